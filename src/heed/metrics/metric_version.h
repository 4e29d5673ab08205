#pragma once

namespace heed::metrics {

/// The version field of a metric's signature, in which sacrebleu writes its own version.
inline constexpr const char* kMetricVersion = "heed-0.1.0";

}  // namespace heed::metrics

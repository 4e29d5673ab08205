#pragma once

namespace heed::metrics {

/// The last field of a metric's signature: who computed it. sacrebleu writes its own number there.
inline constexpr const char* kMetricVersion = "heed-0.1.0";

}  // namespace heed::metrics

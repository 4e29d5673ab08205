#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// heed's own format, which can express every ModelConfig. It is for those that no published family
/// can express: bottleneck heads, shared key/value heads in an encoder-decoder, gated feed-forward
/// networks, ...
Family heed_family();

}  // namespace heed::model

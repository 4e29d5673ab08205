#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// heed's own description, which says every ModelConfig, for those that no published family can:
/// bottleneck heads, shared key/value heads in an encoder-decoder, gated feed-forward networks, ...
Family heed_family();

}  // namespace heed::model

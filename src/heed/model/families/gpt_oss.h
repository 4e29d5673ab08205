#pragma once

#include "heed/model/families/family.h"

namespace heed::model {

/// gpt-oss (OpenAI, 2025): attention sinks, every other layer with a window, and in each layer a
/// mixture of experts, whose weights are published in MXFP4.
Family gpt_oss_family();

}  // namespace heed::model

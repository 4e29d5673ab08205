#pragma once

#include <vector>

#include "capi/sized.h"
#include "capi/values.h"
#include "heed/c_generate.h"
#include "heed/generation.h"
#include "heed/search.h"

namespace heed::capi {

template <>
heed_generate_options defaults<heed_generate_options>();
template <>
heed_search_options defaults<heed_search_options>();

Prompt prompt_of(const heed_prompt& prompt);
GenerateOptions generate_options(const heed_generate_options& from);
SearchOptions search_options(const heed_search_options& from);

}  // namespace heed::capi

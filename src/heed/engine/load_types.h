#pragma once

#include <array>

#include "heed/load_options.h"

namespace heed::engine {

// The values of LoadOptions that have names, for whoever reads names.
inline constexpr std::array kWeightTypes{
    WeightType::f32,  WeightType::bf16, WeightType::q8_0, WeightType::q6_K, WeightType::q5_1,
    WeightType::q5_0, WeightType::q5_K, WeightType::q4_1, WeightType::q4_0, WeightType::q4_K};
inline constexpr std::array kComputes{Compute::f32, Compute::bf16, Compute::int8};
inline constexpr std::array kCacheTypes{CacheType::f32, CacheType::bf16, CacheType::int8};

}  // namespace heed::engine

#include "heed/load_options.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

namespace heed {
namespace {

/// Not to be looked into: options hold the address alone.
std::shared_ptr<const nn::TensorParallel> some_parts() {
  static const int place = 0;
  return {std::make_shared<int>(), reinterpret_cast<const nn::TensorParallel*>(&place)};
}

TEST(LoadOptions, AreDifferentWhenAnyFieldIs) {
  LoadOptions changed;
  // Does not compile when there are more fields than this test has.
  auto& [weights, compute, cache, device, random_weights, rope_context, adapters, weight_cache,
         shortlist, speculation, executor, parts, hub] = changed;
  const std::vector<std::function<void()>> changes{
      [&] { weights = WeightType::q8_0; },
      [&] { compute = Compute::bf16; },
      [&] { cache = CacheType::int8; },
      [&] { device = "cpu"; },
      [&] { random_weights = 1; },
      [&] { rope_context = 8192; },
      [&] { adapters = {{.path = "adapter"}}; },
      [&] { adapters = {{.path = "adapter", .name = "other"}}; },
      [&] { adapters = {{.path = "adapter", .scale = 0.5f}}; },
      [&] { weight_cache = "cache"; },
      [&] { shortlist = "lex.s2t"; },
      [&] { speculation.ngram = true; },
      [&] { speculation.draft = "draft"; },
      [&] { speculation.draft_weights = WeightType::q4_0; },
      [&] { executor = std::make_shared<Executor>(1); },
      [&] { parts = some_parts(); },
      [&] { hub.endpoint = "https://example.com"; },
      [&] { hub.cache = "cache"; },
      [&] { hub.token = "token"; },
      [&] { hub.offline = true; },
      [&] { hub.weights = false; }};
  LoadOptions before;
  for (size_t i = 0; i < changes.size(); ++i) {
    changes[i]();
    EXPECT_FALSE(changed == before) << "change " << i;
    before = changed;
    EXPECT_TRUE(changed == before) << "change " << i;
  }
}

}  // namespace
}  // namespace heed

#include "heed/inspect/attention/encoded_attention.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"
#include "tests/base/threads.h"
#include "tests/inspect/example_capture.h"
#include "tests/inspect/page_checks.h"

namespace heed::inspect {
namespace {

/// Rows [begin, end) of the queries of all heads.
Tensor queries_of(const Tensor& weights, int64_t begin, int64_t end) {
  const int64_t heads = weights.shape()[0], queries = weights.shape()[1], keys = weights.shape()[2];
  Tensor part = Tensor::empty({heads, end - begin, keys});
  for (int64_t h = 0; h < heads; ++h)
    std::copy_n(weights.data<float>() + (h * queries + begin) * keys, (end - begin) * keys,
                part.data<float>() + h * (end - begin) * keys);
  return part;
}

void expect_equal(const EncodedAttention& a, const EncodedAttention& b) {
  EXPECT_EQ(a.floor, b.floor);
  EXPECT_EQ(a.missing, b.missing);
  ASSERT_EQ(a.maps.size(), b.maps.size());
  for (size_t i = 0; i < a.maps.size(); ++i) {
    EXPECT_EQ(a.maps[i].queries, b.maps[i].queries);
    EXPECT_EQ(a.maps[i].heads, b.maps[i].heads);
  }
}

int64_t bytes_of(const EncodedAttention& encoded) {
  int64_t bytes = 0;
  for (const EncodedAttention::Map& map : encoded.maps)
    for (const std::string& head : map.heads) bytes += std::ssize(head);
  return bytes;
}

TEST(EncodedAttention, DropsSmallWeightsToFitTheBudget) {
  const ExampleCapture example = ExampleCapture(200, 1, 4).add(AttentionKind::cross);
  const EncodedAttention all = example.get().weights;
  const int64_t budget = bytes_of(all) * 2 / 3;  // half of it in base64
  const EncodedAttention fewer = example.get(budget).weights;
  EXPECT_EQ(all.floor, 1);
  EXPECT_GT(fewer.floor, 1);
  EXPECT_LE(bytes_of(fewer) * 4 / 3, budget);
  const std::vector<float> found = decoded(fewer.maps[0].heads[2]);
  const float* given = example.maps[0].weights.data<float>() + 2 * found.size();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], given[i], 1.0f / 255);
}

TEST(EncodedAttention, DoesNotDependOnTheBlocksOfQueriesOrTheThreads) {
  const ExampleCapture example = ExampleCapture(150, 3, 4).add_all();
  for (const int64_t budget : {kPageBudget, int64_t{200000}, int64_t{100000}, int64_t{1}}) {
    const EncodedAttention whole = example.get(budget).weights;
    for (const int64_t step : {1, 7, 64}) {
      const Threads set(step == 1 ? 1 : 3);
      AttentionEncoder encoder(budget);
      for (const ExampleCapture::Layer& layer : example.maps)
        for (int64_t begin = 0; begin < 150; begin += step)
          encoder.add({layer.kind, layer.layer},
                      queries_of(layer.weights, begin, std::min<int64_t>(begin + step, 150)));
      expect_equal(encoder.finish(), whole);
    }
  }
}

TEST(EncodedAttention, RefusesWeightsThatDoNotMatchTheLayer) {
  const auto message_of = [](const std::vector<std::pair<AttentionSite, Tensor>>& all) {
    try {
      AttentionEncoder encoder;
      for (const auto& [site, weights] : all) encoder.add(site, weights);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const AttentionSite first{AttentionKind::cross, 0}, second{AttentionKind::cross, 1};
  const Tensor good = Tensor::zeros({2, 3, 3});
  EXPECT_EQ(message_of({{first, good}, {first, good}, {second, good}}), "");
  EXPECT_EQ(message_of({{first, good}, {second, good}, {first, good}}),
            "cross attention of layer 0 was captured twice");
  EXPECT_EQ(message_of({{first, good}, {first, Tensor::zeros({2, 3, 4})}}),
            "cross attention of layer 0 is [2, 3, 4], expected 2 heads and 3 keys");
  EXPECT_EQ(message_of({{first, Tensor::zeros({3, 3})}}),
            "cross attention of layer 0 is f32 [3, 3], expected f32 [heads, queries, keys]");
  EXPECT_EQ(message_of({{first, Tensor::zeros({2, 3, 3}, DType::i32)}}),
            "cross attention of layer 0 is i32 [2, 3, 3], expected f32 [heads, queries, keys]");
  EXPECT_EQ(message_of({{first, Tensor::zeros({0, 3, 3})}}),
            "cross attention of layer 0 is f32 [0, 3, 3], expected f32 [heads, queries, keys]");
}

}  // namespace
}  // namespace heed::inspect

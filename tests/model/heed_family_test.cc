#include "heed/model/families/known.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heed::model {
namespace {

TEST(HeedFamily, ReadsConfigurationsWithFormerFieldNames) {
  const ModelConfig config = heed_family().read_config(
      {{"model_type", "heed"}, {"d_model", 48}, {"n_heads", 6}, {"n_kv_heads", 2}, {"gated", true}},
      "config.json");
  EXPECT_EQ(config.d_model, 48);
  EXPECT_EQ(config.n_heads, 6);
  EXPECT_EQ(config.n_kv_heads, 2);
  EXPECT_TRUE(config.gated);
}

TEST(HeedFamily, WritesCurrentFieldNames) {
  const nlohmann::json json = heed_family().write_config({});
  EXPECT_TRUE(json.contains("num_attention_heads"));
  EXPECT_FALSE(json.contains("n_heads"));
}

}  // namespace
}  // namespace heed::model

#include <gtest/gtest.h>

#include "heed/checkpoint/model_directory.h"

namespace heed::checkpoint {
namespace {

TEST(BuildModel, TakesNoMemoryForTheParametersOfLlama3With8Billion) {
  const auto model = build_model(std::filesystem::path(HEED_SOURCE_DIR) / "configs" / "llama-3-8b");
  EXPECT_EQ(model->parameters().count(), 8'030'261'248);
  for (const Parameter& parameter : model->parameters().all())
    EXPECT_FALSE(parameter.value.defined()) << parameter.name;
}

}  // namespace
}  // namespace heed::checkpoint

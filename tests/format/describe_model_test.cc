#include <gtest/gtest.h>

#include "heed/format/model_directory.h"

namespace heed::format {
namespace {

TEST(DescribeModel, Llama3With8BillionParametersNeedsNoMemoryForThem) {
  const auto model =
      describe_model(std::filesystem::path(HEED_SOURCE_DIR) / "configs" / "llama-3-8b");
  EXPECT_EQ(model->parameters().count(), 8'030'261'248);
  for (const Parameter& parameter : model->parameters().all())
    EXPECT_FALSE(parameter.value.defined()) << parameter.name;
}

TEST(DescribeModel, TellsWhetherTheWeightsAreThereToo) {
  const std::filesystem::path source = HEED_SOURCE_DIR;
  EXPECT_FALSE(has_weights(source / "configs" / "llama-3-8b"));
  EXPECT_TRUE(has_weights(source / "tests" / "golden" / "families" / "bert"));
}

}  // namespace
}  // namespace heed::format

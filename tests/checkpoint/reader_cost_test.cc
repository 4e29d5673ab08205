// Model configurations of up to 1 MB that try to crash, hang or exhaust memory.
#include <gtest/gtest.h>

#include "heed/checkpoint/model_directory.h"
#include "tests/base/cost.h"

namespace heed::checkpoint {
namespace {

TEST(ReaderCost, ModelConfigurations) {
  const auto read = [](const std::string& config) {
    const TemporaryDirectory folder;
    write_quickly(folder / "config.json", config);
    return expect_cheap([&] { build_model(folder.path()); });
  };
  EXPECT_NE(read(std::string(kHostileBytes, '{')), "");
  EXPECT_NE(read(repeated("{\"model_type\":", 70000)), "");
  EXPECT_NE(
      read("{\"model_type\": \"llama\", \"hidden_size\": " + std::string(kHostileBytes, '9') + "}"),
      "");
  EXPECT_NE(read("{\"model_type\": \"llama\", \"hidden_size\": [" + repeated("0,", 500000) + "0]}"),
            "");
}

}  // namespace
}  // namespace heed::checkpoint

#include <gtest/gtest.h>

#include "heed/io/safetensors.h"
#include "tests/base/testing.h"

namespace heed::io {
namespace {

constexpr const char* kIndex = "model.safetensors.index.json";

class Shards : public testing::Test {
 protected:
  Shards() {
    write_safetensors(folder_ / "one.safetensors",
                      {{"a", Tensor::full({1}, 1)}, {"b", Tensor::full({2}, 2)}}, {});
    write_safetensors(folder_ / "two.safetensors", {{"c", Tensor::full({3}, 3)}}, {});
    write_index(R"({"a": "one.safetensors", "b": "one.safetensors", "c": "two.safetensors"})");
  }

  void write_index(const std::string& map) const {
    write_quickly(folder_ / kIndex,
                  R"({"metadata": {"total_size": 24}, "weight_map": )" + map + "}");
  }

  void expect(const std::string& reason) const {
    expect_error([&] { open_model_tensors(folder_.path()); }, reason);
  }

  const TemporaryDirectory folder_;
};

TEST_F(Shards, AreReadThroughTheirIndex) {
  const auto source = open_model_tensors(folder_.path());
  EXPECT_EQ(source->names(), (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_EQ(source->get("b").values<float>()[1], 2.0f);
  EXPECT_EQ(source->get("c").values<float>()[2], 3.0f);
  EXPECT_TRUE(source->contains("c"));
  EXPECT_FALSE(source->contains("d"));
  expect_error([&] { source->get("d"); }, "index.json: there is no tensor d");
}

TEST_F(Shards, AreIgnoredWhenThereIsASingleFile) {
  write_safetensors(folder_ / "model.safetensors", {{"all", Tensor::full({1}, 1)}}, {});
  EXPECT_EQ(open_model_tensors(folder_.path())->names(), std::vector<std::string>{"all"});
}

TEST_F(Shards, ReportAMissingShard) {
  std::filesystem::remove(folder_ / "two.safetensors");
  expect("index.json: the shard two.safetensors is missing");
}

TEST_F(Shards, ReportATensorMissingFromItsShard) {
  write_index(R"({"a": "two.safetensors"})");
  expect("index.json: a should be in two.safetensors, but is not");
}

TEST_F(Shards, OutsideTheDirectoryAreRejected) {
  for (const std::string name : {"../one.safetensors", "/etc/passwd", "..", "sub/one"}) {
    write_index("{\"a\": \"" + name + "\"}");
    expect("\"" + name + "\" is not the name of a file in the same directory");
  }
  write_index(R"({"a": ""})");
  expect("is a directory, expected a file");
  write_index("{\"a\": \"" + std::string(5000, 'x') + "\"}");
  expect("is missing");
}

TEST_F(Shards, RequireAWeightMapOfFileNames) {
  for (const char* text : {"{}", "[]", R"({"weight_map": 3})", R"({"weight_map": ["a"]})"}) {
    write_quickly(folder_ / kIndex, text);
    expect("index.json: weight_map is missing or not an object");
  }
  write_index(R"({"a": 3})");
  expect("index.json: a is 3, expected a string");
  write_quickly(folder_ / kIndex, "{");
  expect("index.json: is not JSON");
}

TEST_F(Shards, RequireAnIndex) {
  std::filesystem::remove(folder_ / kIndex);
  expect("has neither model.safetensors nor model.safetensors.index.json");
}

}  // namespace
}  // namespace heed::io

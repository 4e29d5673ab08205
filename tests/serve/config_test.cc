#include "heed/server_config.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "heed/error.h"
#include "tests/base/testing.h"

namespace heed::serve {
namespace {

namespace fs = std::filesystem;

class Config : public testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) {
    const fs::path file = directory_.path() / name;
    std::ofstream(file) << text;
    fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
    return file;
  }
  ServerConfig read(const std::string& text) {
    ServerConfig config;
    read_server_config(write("serve.toml", text), config);
    return config;
  }
  std::string refusal(const std::string& text) {
    try {
      read(text);
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryDirectory directory_;
};

TEST_F(Config, HasModelsLimitsAndAdapters) {
  fs::create_directory(directory_.path() / "model");
  const ServerConfig config = read(R"(
port = 9000
drain_seconds = 1.5
[limits]
queued_requests = 3
request_seconds = 2
model_memory = "2GiB"
[[model]]
name = "a"
path = "model"
weights = "q8_0"
draft = "model"
draft_weights = "q4_0"
max_active_tokens = 100
[[model.adapter]]
name = "b"
path = "lora"
scale = 0.5
[[model]]
name = "c"
path = "owner/name"
on_first_use = true
speculate = "ngram"
)");
  EXPECT_EQ(config.server.port, 9000);
  EXPECT_EQ(config.drain_time, std::chrono::milliseconds(1500));
  EXPECT_EQ(config.server.queue.requests, 3);
  EXPECT_EQ(config.server.request_time, std::chrono::seconds(2));
  EXPECT_EQ(config.server.memory_limit, uint64_t{2} << 30);
  ASSERT_EQ(config.server.models.size(), 2u);
  const ModelSource& model = config.server.models[0];
  EXPECT_EQ(model.path, (directory_.path() / "model").string());
  EXPECT_EQ(model.load.weights, WeightType::q8_0);
  EXPECT_EQ(model.load.speculation.draft, directory_.path() / "model");
  EXPECT_EQ(model.load.speculation.draft_weights, WeightType::q4_0);
  EXPECT_FALSE(model.load.speculation.ngram);
  EXPECT_EQ(model.batching.max_active_tokens, 100);
  ASSERT_EQ(model.load.adapters.size(), 1u);
  EXPECT_EQ(model.load.adapters[0].name, "b");
  EXPECT_EQ(model.load.adapters[0].scale, 0.5f);
  EXPECT_EQ(config.server.models[1].path, "owner/name");
  EXPECT_TRUE(config.server.models[1].on_first_use);
  EXPECT_TRUE(config.server.models[1].load.speculation.ngram);
}

TEST_F(Config, NamesTheKeyThatIsWrong) {
  EXPECT_NE(refusal("prt = 1").find("prt is not a known field"), std::string::npos);
  EXPECT_NE(refusal("port = 70000").find("port is 70000"), std::string::npos);
  EXPECT_NE(refusal("[limits]\nqueue = 1").find("limits.queue is not a known"), std::string::npos);
  EXPECT_NE(refusal("[[model]]\nname = \"a\"").find("model.path is missing"), std::string::npos);
  EXPECT_NE(refusal("[model]\nname = \"a\"").find("model is not a list"), std::string::npos);
  EXPECT_NE(refusal("port = ").find("serve.toml: line 1"), std::string::npos);
  EXPECT_NE(refusal("[[model]]\nname='a'\npath='b'\nweights='q9'")
                .find("serve.toml: model.weights is \"q9\", expected one of f32, bf16"),
            std::string::npos);
  EXPECT_NE(refusal("[[model]]\nname='a'\npath='b'\nspeculate='x'")
                .find("model.speculate is \"x\", expected \"ngram\""),
            std::string::npos);
}

TEST_F(Config, KeysAreReadFromAFileThatIsPrivate) {
  const fs::path file = write("keys", "# comment\nfirst\n\nsecond\r\n");
  EXPECT_EQ(read_api_keys(file), (std::vector<std::string>{"first", "second"}));
  fs::permissions(file, fs::perms::others_read, fs::perm_options::add);
  EXPECT_THROW(read_api_keys(file), Error);
  EXPECT_THROW(read_api_keys(write("none", "# nothing\n")), Error);
  EXPECT_THROW(read_api_keys(directory_.path() / "absent"), Error);
}

TEST(ParseBytes, ReadsUnits) {
  EXPECT_EQ(parse_bytes("1000"), 1000u);
  EXPECT_EQ(parse_bytes("3kB"), 3000u);
  EXPECT_EQ(parse_bytes("8 GiB"), uint64_t{8} << 30);
  for (const char* bad : {"", "GiB", "8gib", "-1", "1.5GiB", "99999999999GiB"})
    EXPECT_THROW(parse_bytes(bad), Error) << bad;
}

TEST(ParseModel, ReadsANameAndAPath) {
  EXPECT_EQ(parse_model_source("a=b/c=d").name, "a");
  EXPECT_EQ(parse_model_source("a=b/c=d").path, "b/c=d");
  EXPECT_EQ(parse_model_source("models/opus-mt/").name, "opus-mt");
  EXPECT_EQ(parse_model_source("models/m.gguf").name, "m.gguf");
  for (const char* bad : {"=a", "a=", ""}) EXPECT_THROW(parse_model_source(bad), Error) << bad;
}

}  // namespace
}  // namespace heed::serve

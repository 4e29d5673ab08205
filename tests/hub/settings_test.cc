#include "heed/hub/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/base/testing.h"

namespace heed::hub {
namespace {

/// No variable of the hub is set but those given, for as long as it exists.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::string>& values) {
    for (const char* name : {"HF_HOME", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME",
                             "HF_ENDPOINT", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "HF_TOKEN_PATH",
                             "HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HOME"}) {
      if (const char* value = std::getenv(name)) former_[name] = value;
      names_.emplace_back(name);
      ::unsetenv(name);
    }
    for (const auto& [name, value] : values) ::setenv(name.c_str(), value.c_str(), 1);
  }
  ~Environment() {
    for (const std::string& name : names_) ::unsetenv(name.c_str());
    for (const auto& [name, value] : former_) ::setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, std::string> former_;
};

Settings with(const std::map<std::string, std::string>& values) {
  const Environment environment(values);
  return settings_of({});
}

TEST(Settings, PlaceTheCacheAsPythonDoes) {
  const std::string home = "/nowhere/me";
  EXPECT_EQ(with({{"HOME", home}}).cache, home + "/.cache/huggingface/hub");
  EXPECT_EQ(with({{"HOME", home}, {"XDG_CACHE_HOME", "/x"}}).cache, "/x/huggingface/hub");
  EXPECT_EQ(with({{"XDG_CACHE_HOME", "/x"}, {"HF_HOME", "/h"}}).cache, "/h/hub");
  EXPECT_EQ(with({{"HF_HOME", "~/h"}, {"HOME", home}}).cache, home + "/h/hub");
  EXPECT_EQ(with({{"HF_HOME", "/h"}, {"HF_HUB_CACHE", "/c"}}).cache, "/c");
}

TEST(Settings, ReadTheTokenFromTheEnvironmentOrAFile) {
  const TemporaryDirectory folder;
  write_quickly(folder / "token", "hf_file\n");
  const std::string home = folder.path().string();
  EXPECT_EQ(with({{"HF_HOME", home}}).token, "hf_file");
  EXPECT_EQ(with({{"HF_HOME", home}, {"HF_TOKEN", " hf_set\n"}}).token, "hf_set");
  EXPECT_EQ(with({{"HF_TOKEN_PATH", home + "/token"}, {"HF_HOME", "/nowhere"}}).token, "hf_file");
  EXPECT_EQ(with({{"HF_HOME", "/nowhere"}}).token, "");
  const std::string why = error_of([] { with({{"HF_TOKEN", "hf_x\r\nHost: evil"}}); });
  EXPECT_NE(why.find("token holds characters"), std::string::npos) << why;
  EXPECT_EQ(why.find("hf_x"), std::string::npos) << why;
}

TEST(Settings, ReadTheEndpointAndOfflineMode) {
  EXPECT_EQ(with({}).endpoint, "https://huggingface.co");
  EXPECT_EQ(with({{"HF_ENDPOINT", "http://mirror:80//"}}).endpoint, "http://mirror:80");
  for (const char* endpoint : {"mirror", "ftp://mirror", "http://a b", "file:///etc"})
    expect_error([&] { with({{"HF_ENDPOINT", endpoint}}); }, "expected https://HOST");
  EXPECT_FALSE(with({}).offline);
  EXPECT_FALSE(with({{"HF_HUB_OFFLINE", "0"}}).offline);
  for (const char* yes : {"1", "true", "YES", "On"})
    EXPECT_TRUE(with({{"HF_HUB_OFFLINE", yes}}).offline);
}

TEST(Settings, OfTheCallerComeFirst) {
  const Environment environment(
      {{"HF_ENDPOINT", "http://a"}, {"HF_TOKEN", "x"}, {"HF_HUB_OFFLINE", "1"}});
  HubOptions options;
  options.endpoint = "http://b/";
  options.token = "";
  options.offline = false;
  options.cache = "/c";
  const Settings settings = settings_of(options);
  EXPECT_EQ(settings.endpoint, "http://b");
  EXPECT_EQ(settings.token, "");
  EXPECT_FALSE(settings.offline);
  EXPECT_EQ(settings.cache, "/c");
}

}  // namespace
}  // namespace heed::hub

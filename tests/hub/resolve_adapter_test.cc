// Adapters of a hub: only their two files are downloaded.
#include <gtest/gtest.h>

#include "heed/hub.h"
#include "tests/hub/hub_server.h"

namespace heed::hub {
namespace {

namespace fs = std::filesystem;

TEST(ResolveAdapter, DownloadsOnlyTheTwoFilesOfAnAdapter) {
  const HubServer hub;
  hub.add("README.md", "not needed");
  hub.add("adapter_config.json", "{}");
  hub.add("adapter_model.safetensors", "matrices", true);
  hub.add("tokenizer.json", "not needed");
  const fs::path found = resolve_adapter("acme/tiny@v1", hub.options());
  EXPECT_EQ(found, hub.snapshot());
  EXPECT_EQ(files_of(found),
            (std::set<std::string>{"adapter_config.json", "adapter_model.safetensors"}));
  EXPECT_EQ(read_file(hub.cached() / "refs/v1"), kCommit);
  const size_t requests = hub.requests().size();
  EXPECT_EQ(resolve_adapter("acme/tiny@v1", hub.options()), found);
  EXPECT_EQ(hub.requests().size(), requests) << "the cache holds it";
  HubOptions offline = hub.options();
  offline.offline = true;
  EXPECT_EQ(resolve_adapter("acme/tiny@v1", offline), found);
  fs::remove(found / "adapter_model.safetensors");
  expect_error([&] { resolve_adapter("acme/tiny@v1", offline); }, "the hub may not be asked");
  EXPECT_EQ(resolve_adapter("acme/tiny@v1", hub.options()), found);
  EXPECT_EQ(read_file(found / "adapter_model.safetensors"), "matrices");
  // Neither of a model and an adapter is taken for the other.
  EXPECT_EQ(hub.error(),
            "acme/tiny is not a model that heed reads: it has no config.json; it is an adapter of "
            "a model");
}

TEST(ResolveAdapter, DownloadsAFileOfTorchWhereThereAreNoSafetensors) {
  const HubServer hub;
  hub.add("adapter_config.json", "{}");
  hub.add("adapter_model.bin", "matrices", true);
  const fs::path found = resolve_adapter("acme/tiny", hub.options());
  EXPECT_EQ(files_of(found), (std::set<std::string>{"adapter_config.json", "adapter_model.bin"}));
  const size_t requests = hub.requests().size();
  EXPECT_EQ(resolve_adapter("acme/tiny", hub.options()), found);
  EXPECT_EQ(hub.requests().size(), requests) << "the cache holds it";
  fs::remove_all(hub.cache());
  hub.add("adapter_model.safetensors", "matrices", true);
  EXPECT_EQ(files_of(resolve_adapter("acme/tiny", hub.options())),
            (std::set<std::string>{"adapter_config.json", "adapter_model.safetensors"}));
}

TEST(ResolveAdapter, RefusesWhatIsNoAdapter) {
  const HubServer hub;
  const auto error = [&](const std::string& name = "acme/tiny") {
    return error_of([&] { resolve_adapter(name, hub.options()); });
  };
  hub.add_model();
  EXPECT_EQ(error(), "acme/tiny is not a LoRA adapter: it has no adapter_config.json");
  hub.add("adapter_config.json", "{}");
  EXPECT_EQ(error(), "acme/tiny has neither adapter_model.safetensors nor adapter_model.bin");
  EXPECT_TRUE(hub.requests(".bin").empty());
  EXPECT_FALSE(fs::exists(hub.cached()));
  EXPECT_EQ(error("acme/tiny:x.gguf"),
            "acme/tiny:x.gguf: an adapter is a repository, not a file of one");
  EXPECT_NE(error("acme/absent").find("has no such model"), std::string::npos);
  EXPECT_EQ(resolve_adapter("./acme/tiny", hub.options()), "./acme/tiny");
}

}  // namespace
}  // namespace heed::hub

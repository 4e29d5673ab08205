// Models of a hub are found in the cache or downloaded into it, in the layout of huggingface_hub.
#include <gtest/gtest.h>

#include "heed/hub.h"
#include "tests/base/child.h"
#include "tests/hub/hub_server.h"

namespace heed::hub {
namespace {

namespace fs = std::filesystem;

TEST(Resolve, DownloadsTheFilesThatHeedReadsIntoTheStandardLayout) {
  const HubServer hub;
  hub.add_model();
  hub.add("1_Pooling/config.json", "{\"pooling_mode\": \"cls\"}");
  hub.add("modules.json", R"([{"path": "", "type": "Transformer"}, {"path": "1_Pooling"}])");
  const fs::path snapshot = hub.resolve();
  EXPECT_EQ(snapshot, hub.snapshot());
  EXPECT_EQ(files_of(snapshot),
            (std::set<std::string>{"1_Pooling/config.json", "config.json", "model.safetensors",
                                   "modules.json", "tokenizer.json"}));
  EXPECT_EQ(read_file(snapshot / "model.safetensors"), hub.weights());
  // printf '{}' | git hash-object --stdin
  EXPECT_EQ(fs::read_symlink(snapshot / "tokenizer.json"),
            "../../blobs/9e26dfeeb6e641a33dae4961196235bdb965b21b");
  EXPECT_EQ(fs::read_symlink(snapshot / "1_Pooling/config.json").parent_path(), "../../../blobs");
  EXPECT_EQ(read_file(hub.cached() / "refs/main"), kCommit);
  EXPECT_TRUE(fs::exists(hub.cached() / ".no_exist" / kCommit / "vocab.txt"));
  EXPECT_FALSE(fs::exists(hub.cached() / ".no_exist" / kCommit / "tokenizer.json"));
  for (const std::string& blob : files_of(hub.cached() / "blobs"))
    EXPECT_EQ(blob.find('.'), std::string::npos) << blob;
}

TEST(Resolve, AsksNobodyForAModelThatTheCacheHolds) {
  const HubServer hub;
  hub.add_model();
  hub.resolve();
  const size_t requests = hub.requests().size();
  for (const char* name : {"acme/tiny", "acme/tiny@main"})
    EXPECT_EQ(hub.resolve(name), hub.snapshot());
  EXPECT_EQ(hub.resolve(fmt::format("acme/tiny@{}", kCommit)), hub.snapshot());
  EXPECT_EQ(hub.requests().size(), requests);
}

TEST(Resolve, DownloadsNothingOffline) {
  const HubServer hub;
  hub.add_model();
  HubOptions options = hub.options();
  options.offline = true;
  expect_error([&] { resolve_model("acme/tiny", options); },
               "acme/tiny is neither a path here nor in the cache");
  EXPECT_TRUE(hub.requests().empty());
  hub.resolve();
  EXPECT_EQ(resolve_model("acme/tiny", options), hub.snapshot());
}

TEST(Resolve, TakesWhatTheCacheHasWhenTheHubDoesNotAnswer) {
  const HubServer hub;
  hub.add_model();
  hub.resolve();
  // As another program leaves it, which looked for fewer files.
  fs::remove_all(hub.cached() / ".no_exist");
  const std::string request = fmt::format("/revision/{}", kCommit);
  hub.set_faults({{request, {{"status", 503}}}});
  EXPECT_EQ(hub.resolve(), hub.snapshot());
  EXPECT_EQ(hub.requests(request).size(), 3u);
  hub.set_faults({});
  hub.add("vocab.txt", "late");
  EXPECT_EQ(read_file(hub.resolve() / "vocab.txt"), "late");
}

TEST(Resolve, KeepsABranchWhereItIs) {
  const HubServer hub;
  hub.add_model();
  hub.resolve();
  fs::remove_all(hub.cached() / ".no_exist");
  const nlohmann::json moved = {{"sha", std::string(40, 'a')},
                                {"siblings", nlohmann::json::array()}};
  hub.set_faults({{"/revision/main", {{"listing", moved}}}});
  EXPECT_EQ(hub.resolve(), hub.snapshot());
  EXPECT_EQ(hub.requests(fmt::format("/revision/{}", kCommit)).size(), 1u);
}

TEST(Resolve, LeavesPathsAlone) {
  const HubServer hub;
  hub.add_model();
  for (const char* name : {"nowhere.gguf", "/nowhere/x", "./acme/tiny", "a/b/c", "x/y.gguf", ""})
    EXPECT_EQ(hub.resolve(name), name);
  // A local path wins.
  const TemporaryDirectory folder;
  fs::create_directories(folder / "acme/tiny");
  EXPECT_EQ(in_child([&]() -> std::string {
              fs::current_path(folder.path());
              return hub.resolve("acme/tiny").string();
            }),
            "acme/tiny");
  EXPECT_TRUE(hub.requests().empty());
}

TEST(Resolve, FollowsANameWithoutAnOwnerToItsOwner) {
  const HubServer hub;
  hub.add_model();
  hub.copy_to("openai-community/gpt2");
  hub.move("gpt2", "openai-community/gpt2");
  // In the cache it has the name that it was asked for by, as huggingface_hub does it.
  const fs::path snapshot = hub.cache() / "models--gpt2/snapshots" / kCommit;
  EXPECT_EQ(hub.resolve("gpt2"), snapshot);
  EXPECT_EQ(read_file(snapshot / "model.safetensors"), hub.weights());
  const size_t requests = hub.requests().size();
  EXPECT_EQ(hub.resolve("gpt2@main"), snapshot);
  EXPECT_EQ(hub.requests().size(), requests);
}

TEST(Resolve, LooksForANameWithoutAnOwnerAmongSentenceTransformers) {
  const HubServer hub;
  hub.add_model();
  hub.copy_to("sentence-transformers/all-MiniLM-L6-v2");
  const fs::path snapshot =
      hub.cache() / "models--sentence-transformers--all-MiniLM-L6-v2/snapshots" / kCommit;
  EXPECT_EQ(hub.resolve("all-MiniLM-L6-v2"), snapshot);
  const size_t requests = hub.requests().size();
  EXPECT_EQ(hub.resolve("all-MiniLM-L6-v2"), snapshot);
  EXPECT_EQ(hub.resolve("sentence-transformers/all-MiniLM-L6-v2"), snapshot);
  EXPECT_EQ(hub.requests().size(), requests);
}

TEST(Resolve, SaysWhatANameMayBeWhenNothingIsFound) {
  const HubServer hub;
  const std::string forms =
      "; a model is a directory, a GGUF file, or [OWNER/]NAME[@REVISION][:FILE.gguf] of the hub";
  const std::string tried =
      fmt::format("gpt5 is neither a path here nor in the cache {}, and ", hub.cache().string());
  EXPECT_EQ(hub.error("gpt5"), fmt::format("{}{} shows neither it nor sentence-transformers/gpt5{}",
                                           tried, hub.endpoint(), forms));
  HubOptions options = hub.options();
  options.offline = true;
  EXPECT_EQ(error_of([&] { resolve_model("gpt5", options); }),
            fmt::format("{}the hub may not be asked (HF_HUB_OFFLINE){}", tried, forms));
}

TEST(Resolve, ListsTheModelsThatTheCacheHolds) {
  const HubServer hub;
  hub.add_model();
  EXPECT_TRUE(cached_models(hub.options()).empty());
  hub.copy_to("openai-community/gpt2");
  hub.move("gpt2", "openai-community/gpt2");
  for (const char* name : {"acme/tiny", "acme/tiny@refs/pr/1", "gpt2"}) hub.resolve(name);
  fs::remove_all(hub.cache().parent_path() / "root/acme/tiny");
  hub.add("a/x-00001-of-00002.gguf", "1");
  hub.add("a/x-00002-of-00002.gguf", "2");
  hub.resolve("acme/tiny@v1:a/x-00001-of-00002.gguf");
  // Without its weights a model is none.
  fs::create_directories(hub.cache() / "models--acme--none/refs");
  write_quickly(hub.cache() / "models--acme--none/refs/main", kCommit);
  EXPECT_EQ(cached_models(hub.options()),
            (std::vector<std::string>{"acme/tiny", "acme/tiny:a/x-00001-of-00002.gguf",
                                      "acme/tiny@refs/pr/1",
                                      "acme/tiny@refs/pr/1:a/x-00001-of-00002.gguf", "acme/tiny@v1",
                                      "acme/tiny@v1:a/x-00001-of-00002.gguf", "gpt2"}));
  for (const std::string& name : cached_models(hub.options()))
    EXPECT_TRUE(fs::exists(hub.resolve(name))) << name;
}

TEST(Resolve, DownloadsTheShardsThatTheIndexNames) {
  const HubServer hub;
  hub.add_model();
  fs::remove(hub.cache().parent_path() / "root/acme/tiny/model.safetensors");
  std::string map;
  for (int i = 1; i <= 7; ++i) {
    const std::string shard = fmt::format("model-0000{}-of-00007.safetensors", i);
    hub.add(shard, fmt::format("shard {}", i), true);
    map += fmt::format("{}\"{}\": \"{}\"", i > 1 ? ", " : "", i, shard);
  }
  hub.add("other.safetensors", "not needed", true);
  hub.add("model.safetensors.index.json", fmt::format("{{\"weight_map\": {{{}}}}}", map));
  const fs::path snapshot = hub.resolve();
  EXPECT_EQ(files_of(snapshot).size(), 10u);
  EXPECT_EQ(read_file(snapshot / "model-00007-of-00007.safetensors"), "shard 7");
  EXPECT_FALSE(fs::exists(snapshot / "other.safetensors"));
  // A missing shard is fetched again, the others are not.
  const size_t requests = hub.requests(".safetensors").size();
  fs::remove(snapshot / "model-00003-of-00007.safetensors");
  hub.resolve();
  EXPECT_TRUE(fs::exists(snapshot / "model-00003-of-00007.safetensors"));
  EXPECT_EQ(hub.requests(".safetensors").size(), requests);  // its blob is there
}

TEST(Resolve, RefusesAnIndexWhoseShardsAreMissing) {
  const HubServer hub;
  hub.add("config.json", "{}");
  hub.add("model.safetensors.index.json", R"({"weight_map": {"a": "x.safetensors"}})");
  EXPECT_NE(hub.error().find("acme/tiny has no file \"x.safetensors\""), std::string::npos);
  hub.add("model.safetensors.index.json", R"({"weight_map": {"a": "../../x.safetensors"}})");
  fs::remove_all(hub.cache());
  EXPECT_NE(hub.error().find("is not the name of a .safetensors file"), std::string::npos);
}

TEST(Resolve, DownloadsNoWeightsIfNoneAreWanted) {
  const HubServer hub;
  hub.add_model();
  HubOptions options = hub.options();
  options.weights = false;
  EXPECT_EQ(files_of(resolve_model("acme/tiny", options)),
            (std::set<std::string>{"config.json", "tokenizer.json"}));
  const size_t requests = hub.requests().size();
  resolve_model("acme/tiny", options);
  EXPECT_EQ(hub.requests().size(), requests);
  EXPECT_TRUE(files_of(hub.resolve()).contains("model.safetensors"));
}

TEST(Resolve, DownloadsAGgufFileAndItsParts) {
  const HubServer hub;
  hub.add("README.md", "x");
  hub.add("whole.gguf", "GGUF", true);
  for (const char* part : {"1", "2"})
    hub.add(fmt::format("q4/x-0000{}-of-00002.gguf", part), part, true);
  EXPECT_EQ(hub.resolve("acme/tiny:whole.gguf"), hub.snapshot() / "whole.gguf");
  const fs::path split = hub.resolve("acme/tiny@v1:q4/x-00001-of-00002.gguf");
  EXPECT_EQ(split, hub.snapshot() / "q4/x-00001-of-00002.gguf");
  EXPECT_EQ(read_file(split.parent_path() / "x-00002-of-00002.gguf"), "2");
  EXPECT_EQ(read_file(hub.cached() / "refs/v1"), kCommit);
  EXPECT_EQ(hub.error("acme/tiny"),
            "acme/tiny has GGUF files: name one of them, as in acme/tiny:FILE.gguf: "
            "q4/x-00001-of-00002.gguf, whole.gguf");
  EXPECT_EQ(hub.error("acme/tiny:absent.gguf"),
            "acme/tiny has no file \"absent.gguf\"; its GGUF files are q4/x-00001-of-00002.gguf, "
            "whole.gguf");
}

TEST(Resolve, DownloadsFilesOfTorchWhereThereAreNoSafetensors) {
  const HubServer hub;
  hub.add_model();
  const fs::path root = hub.cache().parent_path() / "root/acme/tiny";
  EXPECT_FALSE(fs::exists(hub.resolve() / "pytorch_model.bin"));
  EXPECT_TRUE(hub.requests(".bin").empty());
  fs::remove_all(hub.cache());
  fs::remove(root / "model.safetensors");
  const fs::path snapshot = hub.resolve();
  EXPECT_EQ(files_of(snapshot),
            (std::set<std::string>{"config.json", "pytorch_model.bin", "tokenizer.json"}));
  EXPECT_EQ(cached_models(hub.options()), std::vector<std::string>{"acme/tiny"});
  const size_t requests = hub.requests().size();
  EXPECT_EQ(hub.resolve(), snapshot);
  EXPECT_EQ(hub.requests().size(), requests);
  // ... and its shards.
  fs::remove_all(hub.cache());
  fs::remove(root / "pytorch_model.bin");
  hub.add("pytorch_model.bin.index.json", R"({"weight_map": {"a": "x.bin", "b": "y.bin"}})");
  hub.add("x.bin", "x", true);
  hub.add("y.bin", "y", true);
  hub.add("training_args.bin", "not needed", true);
  EXPECT_EQ(files_of(hub.resolve()),
            (std::set<std::string>{"config.json", "pytorch_model.bin.index.json", "tokenizer.json",
                                   "x.bin", "y.bin"}));
  hub.add("pytorch_model.bin.index.json", R"({"weight_map": {"a": "x.pt"}})");
  fs::remove_all(hub.cache());
  EXPECT_NE(hub.error().find("\"x.pt\" is not the name of a .bin file in the same folder"),
            std::string::npos);
}

TEST(Resolve, DownloadsNoWeightsOfOtherFormats) {
  const HubServer hub;
  hub.add("config.json", "{}");
  EXPECT_EQ(hub.error(),
            "acme/tiny has no weights: neither model.safetensors nor "
            "model.safetensors.index.json, nor pytorch_model.bin or its index");
  hub.add("model.ckpt", "pickle", true);
  hub.add("tf_model.h5", "weights", true);
  EXPECT_EQ(hub.error(),
            "acme/tiny has weights only in a format that heed does not read, such as model.ckpt; "
            "heed reads safetensors, pytorch_model.bin and GGUF");
  EXPECT_TRUE(hub.requests(".ckpt").empty());
  EXPECT_FALSE(fs::exists(hub.cached()));
}

TEST(Resolve, SaysWhatWasTriedAndWhyItFailed) {
  const HubServer hub;
  hub.add_model();
  const std::string tried =
      "is neither a path here nor in the cache " + hub.cache().string() + ", and ";
  EXPECT_EQ(hub.error("nobody/nothing"),
            fmt::format("nobody/nothing {}{} has no such model, or it is private and needs a token "
                        "(HF_TOKEN) (HTTP status 401)",
                        tried, hub.endpoint()));
  EXPECT_EQ(
      hub.error("acme/tiny@absent"),
      fmt::format("acme/tiny {}{}/acme/tiny has no revision \"absent\"", tried, hub.endpoint()));
  hub.set_faults(
      {{"config.json", {{"status", 403}, {"headers", {{"X-Error-Code", "GatedRepo"}}}}}});
  EXPECT_EQ(hub.error(), fmt::format("acme/tiny {}the model is gated: accept its terms at "
                                     "{}/acme/tiny and set HF_TOKEN",
                                     tried, hub.endpoint()));
  hub.set_faults({{"config.json", {{"status", 404}}}});
  EXPECT_NE(hub.error().find("HTTP status 404"), std::string::npos);
  EXPECT_FALSE(fs::exists(hub.cached() / "refs"));
  HubOptions options = hub.options();
  options.endpoint = "http://127.0.0.1:1";
  expect_error([&] { resolve_model("a/b", options); }, "http://127.0.0.1:1 cannot be reached");
}

TEST(Resolve, SendsTheTokenToTheHubAlone) {
  const HubServer hub;
  hub.add_model();
  HubOptions options = hub.options();
  options.token = "hf_secret";
  resolve_model("acme/tiny", options);
  int to_hub = 0, to_cdn = 0;
  for (const nlohmann::json& request : hub.requests()) {
    const bool cdn = request["port"] == hub.cdn_port();
    (cdn ? to_cdn : to_hub) += 1;
    if (cdn)
      EXPECT_TRUE(request["authorization"].is_null()) << request;
    else
      EXPECT_EQ(request["authorization"], "Bearer hf_secret");
  }
  EXPECT_GE(to_hub, 4);
  EXPECT_EQ(to_cdn, 1);
}

TEST(Resolve, ReportsProgressUpToTheEnd) {
  const HubServer hub;
  hub.add_model();
  std::vector<DownloadProgress> reports;
  HubOptions options = hub.options();
  options.on_progress = [&](const DownloadProgress& progress) {
    EXPECT_EQ(progress.model, "acme/tiny");
    reports.push_back(progress);
  };
  resolve_model("acme/tiny", options);
  ASSERT_GE(reports.size(), 2u);
  EXPECT_EQ(reports.front().bytes, 0u);
  for (size_t i = 1; i < reports.size(); ++i) EXPECT_GE(reports[i].bytes, reports[i - 1].bytes);
  EXPECT_EQ(reports.back().files, 3);
  EXPECT_EQ(reports.back().total_files, 3);
  EXPECT_EQ(reports.back().bytes, reports.back().total_bytes);
  EXPECT_GT(reports.back().bytes, hub.weights().size());
}

TEST(Resolve, IgnoresADamagedReference) {
  const HubServer hub;
  hub.add_model();
  fs::create_directories(hub.cached() / "refs");
  write_quickly(hub.cached() / "refs/main", "../../../../etc");
  EXPECT_EQ(hub.resolve(), hub.snapshot());
  EXPECT_EQ(read_file(hub.cached() / "refs/main"), kCommit);
}

TEST(Resolve, DownloadsFilesOfTheSameContentsOnce) {
  const HubServer hub;
  hub.add_model();
  hub.add("tokenizer_config.json", "{}");
  const fs::path snapshot = hub.resolve();
  EXPECT_EQ(fs::read_symlink(snapshot / "tokenizer.json"),
            fs::read_symlink(snapshot / "tokenizer_config.json"));
}

}  // namespace
}  // namespace heed::hub

// Reads randomly damaged copies of the files in tests/fuzz.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/checkpoint/adapter_directory.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/io/gguf/gguf_file.h"
#include "heed/io/pytorch/pytorch_file.h"
#include "heed/io/safetensors.h"
#include "heed/io/word_vectors.h"
#include "heed/model/families/family.h"
#include "tests/base/fuzz.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;

const fs::path kSeeds = fs::path(HEED_SOURCE_DIR) / "tests/fuzz";
constexpr uint64_t kAttempts = 3000;
/// With each of some ninety files.
constexpr uint64_t kAttemptsWithConfig = 1000;

/// Passes damaged copies of a seed, a file of tests/fuzz or elsewhere, to `reader` by path.
template <typename Reader>
void fuzz_seed(const fs::path& seed, Reader&& reader, uint64_t attempts = kAttempts) {
  const TemporaryDirectory folder;
  const fs::path path = folder / seed.filename().string();
  fuzz_file(path, read_file(kSeeds / seed), attempts, [&] { reader(path); });
}

/// Reads every element, so that sanitizers detect invalid memory.
void look_at(const io::TensorSource& source) {
  for (const std::string& name : source.names()) {
    try {
      const Tensor tensor = source.get(name);
      unsigned sum = 0;
      for (int64_t i = 0; i < tensor.bytes(); ++i) sum += static_cast<unsigned>(tensor.raw()[i]);
      EXPECT_LE(sum, 255u * static_cast<unsigned>(tensor.bytes()));
    } catch (const Error&) {
      // A dtype that heed cannot use, or a number that does not fit.
    }
  }
}

TEST(Fuzz, Safetensors) {
  fuzz_seed("all_dtypes.safetensors",
            [](const fs::path& path) { look_at(*io::SafetensorsFile::open(path)); });
}

/// Reads a metadata value as every type.
void look_at(const io::GgufMetadata& metadata, const std::string& key) {
  const auto ask = [&]<typename T>(T) {
    expect_error([&] { metadata.get<T>(key), fail("no error"); }, "");
  };
  ask(int64_t{});
  ask(double{});
  ask(bool{});
  ask(std::string());
  ask(std::vector<int64_t>());
  ask(std::vector<double>());
  ask(std::vector<bool>());
  ask(std::vector<std::string>());
}

TEST(Fuzz, Gguf) {
  fuzz_seed("all_types.gguf", [](const fs::path& path) {
    const auto file = io::GgufFile::open(path);
    for (const std::string& key : file->metadata().keys()) look_at(file->metadata(), key);
    look_at(*file);
  });
}

class FuzzAdapter : public testing::TestWithParam<const char*> {};

TEST_P(FuzzAdapter, IsReadOrRejected) {
  const fs::path golden = fs::path(HEED_SOURCE_DIR) / "tests/golden";
  const TemporaryDirectory folder;
  for (const char* file : {"adapter_config.json", "adapter_model.safetensors"})
    fs::copy_file(golden / "adapters/gpt2" / file, folder / file);
  const auto model = load_model(golden / "families/gpt2");
  const std::string seed = read_file(folder / GetParam());
  fs::remove(folder / GetParam());
  const std::vector<int32_t> ids{5, 9, 4}, offsets{0, 3};
  fuzz_file(folder / GetParam(), seed, kAttempts, [&] {
    const LoadedAdapter adapter = load_adapter(folder.path(), *model);
    model->attach({{&adapter.lora->updates()}});
    Context context;
    model->logits(context, model->decode_all(context, {ids, offsets}));
    model->attach({});
  });
}

INSTANTIATE_TEST_SUITE_P(Files, FuzzAdapter,
                         testing::Values("adapter_config.json", "adapter_model.safetensors"),
                         [](const auto& one) {
                           return std::string(one.param).substr(8, one.param[8] == 'c' ? 6 : 5);
                         });

TEST(Fuzz, GgufAdapter) {
  const fs::path golden = fs::path(HEED_SOURCE_DIR) / "tests/golden";
  const auto model = load_model(golden / "families/llama3");
  fuzz_seed(golden / "adapters/attention/adapter.gguf",
            [&](const fs::path& path) { load_adapter(path, *model); });
}

class FuzzGgufModel : public testing::TestWithParam<const char*> {};

TEST_P(FuzzGgufModel, IsReadOrRejected) {
  const fs::path golden = fs::path(HEED_SOURCE_DIR) / "tests/golden/gguf_models";
  fuzz_seed(golden / GetParam(), [](const fs::path& path) { load_model(path); });
}

INSTANTIATE_TEST_SUITE_P(Architectures, FuzzGgufModel,
                         testing::Values("llama3.gguf", "gemma2.gguf", "gpt2.gguf", "phi3.gguf",
                                         "gpt-neox.gguf", "deepseek-v2-group.gguf"));

class FuzzPyTorch : public testing::TestWithParam<const char*> {};

TEST_P(FuzzPyTorch, IsReadOrRejected) {
  fuzz_seed(GetParam(), [](const fs::path& path) { look_at(*io::PyTorchFile::open(path)); });
}

INSTANTIATE_TEST_SUITE_P(Formats, FuzzPyTorch,
                         testing::Values("state_dict.bin", "checkpoint.bin", "legacy.bin"),
                         [](const auto& one) {
                           const std::string name = one.param;
                           return name.substr(0, name.find('.'));
                         });

TEST(Fuzz, IndexOfShards) {
  fuzz_seed("model.safetensors.index.json", [](const fs::path& path) {
    const fs::path shard = path.parent_path() / "all_dtypes.safetensors";
    if (!path_exists(shard)) fs::copy_file(kSeeds / "all_dtypes.safetensors", shard);
    look_at(*io::open_model_tensors(path.parent_path()));
  });
}

/// Configurations of heed, Marian and every other family, with current and with older keys.
std::vector<fs::path> config_files() {
  std::vector<fs::path> files{kSeeds / "heed_config.json", kSeeds / "marian_config.json"};
  const fs::path golden = fs::path(HEED_SOURCE_DIR) / "tests/golden/families";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(golden))
    if (entry.path().filename().string().starts_with("config.")) files.push_back(entry.path());
  return files;
}

class FuzzConfig : public testing::TestWithParam<fs::path> {};

TEST_P(FuzzConfig, IsReadOrRejected) {
  const auto reader = [](const fs::path& path) {
    fs::rename(path, path.parent_path() / "config.json");
    const auto model = build_model(path.parent_path());
    const model::Family& family = model::family_for(model->config());
    EXPECT_FALSE(family.write_config(model->config()).empty());
  };
  fuzz_seed(GetParam(), reader, kAttemptsWithConfig);
}

std::string name_of_case(const testing::TestParamInfo<fs::path>& info) {
  std::string name =
      info.param.parent_path().filename().string() + "_" + info.param.stem().string();
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Families, FuzzConfig, testing::ValuesIn(config_files()), name_of_case);

class FuzzWordVectors : public testing::TestWithParam<const char*> {};

TEST_P(FuzzWordVectors, AreReadOrRejected) {
  fuzz_seed(GetParam(), [](const fs::path& path) {
    const io::WordVectors vectors = io::read_word_vectors(path, {"the", "cat", "dog", "naïve", ""});
    for (const auto& [word, row] : vectors.rows)
      EXPECT_EQ(static_cast<int64_t>(row.size()), vectors.dimension);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, FuzzWordVectors,
                         testing::Values("vectors.txt", "vectors_no_header.txt", "vectors.bin"));

}  // namespace
}  // namespace heed::checkpoint

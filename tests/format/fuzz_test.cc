// Damages the files of tests/fuzz, always in the same ways, and lets heed read them: whatever a
// file holds, only heed::Error may come out. Most telling in a build with sanitizers.
#include <gtest/gtest.h>

#include <chrono>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/random.h"
#include "heed/format/gguf.h"
#include "heed/format/model_directory.h"
#include "heed/format/safetensors.h"
#include "heed/format/word_vectors.h"
#include "heed/model/families/family.h"
#include "tests/base/testing.h"

namespace heed::format {
namespace {

namespace fs = std::filesystem;

const fs::path kSeeds = fs::path(HEED_SOURCE_DIR) / "tests/fuzz";
constexpr uint64_t kAttempts = 3000;
constexpr auto kTime = std::chrono::seconds(2);

/// Random numbers one after the other.
class Dice {
 public:
  explicit Dice(uint64_t stream) : random_(2017, stream) {}
  size_t below(size_t bound) { return bound ? random_.below(count_++, bound) : 0; }

 private:
  CounterRandom random_;
  uint64_t count_ = 0;
};

const std::vector<std::string> kNasty{"-1",
                                      "0",
                                      "1e999",
                                      "2.5",
                                      "nan",
                                      "4294967296",
                                      "9223372036854775807",
                                      "18446744073709551615",
                                      "1180591620717411303424",
                                      "null",
                                      "\"\"",
                                      "[]",
                                      "{",
                                      "\\",
                                      "\"",
                                      " ",
                                      "\n",
                                      std::string(1, '\0'),
                                      "\xff\xff\xff\xff\xff\xff\xff\xff",
                                      std::string("\0\0\0\0\0\0\0\x80", 8)};

/// Puts something nasty in the place of a number.
void replace_number(std::string& bytes, Dice& dice) {
  constexpr const char* kDigits = "0123456789";
  const size_t begin = bytes.find_first_of(kDigits, dice.below(bytes.size()));
  if (begin == std::string::npos) return;
  const size_t end = std::min(bytes.find_first_not_of(kDigits, begin), bytes.size());
  bytes.replace(begin, end - begin, kNasty[dice.below(kNasty.size())]);
}

void damage_once(std::string& bytes, Dice& dice) {
  const size_t at = dice.below(bytes.size() + 1);
  const size_t length = dice.below(16);
  switch (dice.below(8)) {
    case 0:
      if (at < bytes.size()) bytes[at] = static_cast<char>(bytes[at] ^ (1 << dice.below(8)));
      break;
    case 1:
      if (at < bytes.size()) bytes[at] = static_cast<char>(dice.below(256));
      break;
    case 2:
      bytes.erase(at, length);
      break;
    case 3:
      bytes.insert(at, kNasty[dice.below(kNasty.size())]);
      break;
    case 4:
      bytes.insert(at, bytes.substr(dice.below(bytes.size() + 1), length));
      break;
    case 5:
      bytes.resize(at);
      break;
    case 6:
      // The length in the first bytes of a safetensors file.
      if (bytes.size() >= 8) bytes[dice.below(8)] = static_cast<char>(dice.below(256));
      break;
    default:
      replace_number(bytes, dice);
  }
}

/// Reads damaged copies of a seed, a file of tests/fuzz or elsewhere. `reader` is given their path.
template <typename Reader>
void fuzz(const fs::path& seed, Reader&& reader) {
  const TemporaryDirectory folder;
  const fs::path path = folder / seed.filename().string();
  const std::string whole = read_file(kSeeds / seed);
  int read = 0, refused = 0;
  const auto start = std::chrono::steady_clock::now();
  for (uint64_t attempt = 0; attempt < kAttempts; ++attempt) {
    if (std::chrono::steady_clock::now() - start > kTime) break;
    Dice dice(attempt);
    std::string bytes = whole;
    // Mostly once: a file with one fault gets further than one with many.
    const size_t times = attempt == 0 ? 0 : dice.below(4) ? 1 : 2 + dice.below(3);
    for (size_t i = 0; i < times; ++i) damage_once(bytes, dice);
    write_quickly(path, bytes);
    try {
      reader(path);
      ++read;
    } catch (const Error& error) {
      ++refused;
      const std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << "attempt " << attempt << ": " << text;
      EXPECT_LT(text.size(), 2000u) << "attempt " << attempt;
    } catch (const std::exception& error) {
      ADD_FAILURE() << seed << ", attempt " << attempt << ": " << error.what();
    }
  }
  // Of either kind some, or the damage is too great or too small to tell anything.
  EXPECT_GT(read, (read + refused) / 200);
  EXPECT_GT(refused, (read + refused) / 200);
}

/// Looks at every element, so that a sanitizer sees any that is not there.
void look_at(const TensorSource& source) {
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
  fuzz("all_dtypes.safetensors",
       [](const fs::path& path) { look_at(*SafetensorsFile::open(path)); });
}

/// Asks for a value of metadata in every type that it may have.
void look_at(const GgufMetadata& metadata, const std::string& key) {
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
  fuzz("all_types.gguf", [](const fs::path& path) {
    const auto file = GgufFile::open(path);
    for (const std::string& key : file->metadata().keys()) look_at(file->metadata(), key);
    look_at(*file);
  });
}

class FuzzGgufModel : public testing::TestWithParam<const char*> {};

TEST_P(FuzzGgufModel, IsReadOrRefused) {
  const fs::path golden = fs::path(HEED_SOURCE_DIR) / "tests/golden/gguf_models";
  fuzz(golden / GetParam(), [](const fs::path& path) { load_model(path); });
}

INSTANTIATE_TEST_SUITE_P(Architectures, FuzzGgufModel,
                         testing::Values("llama3.gguf", "gemma2.gguf", "gpt2.gguf",
                                         "deepseek-v2-group.gguf"));

TEST(Fuzz, IndexOfShards) {
  fuzz("model.safetensors.index.json", [](const fs::path& path) {
    const fs::path shard = path.parent_path() / "all_dtypes.safetensors";
    if (!path_exists(shard)) fs::copy_file(kSeeds / "all_dtypes.safetensors", shard);
    look_at(*open_model_tensors(path.parent_path()));
  });
}

/// Of heed, of Marian, and one of every other family, in today's words and in older ones.
std::vector<fs::path> config_files() {
  std::vector<fs::path> files{kSeeds / "heed_config.json", kSeeds / "marian_config.json"};
  const fs::path golden = fs::path(HEED_SOURCE_DIR) / "tests/golden/families";
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(golden))
    if (entry.path().filename().string().starts_with("config.")) files.push_back(entry.path());
  return files;
}

class FuzzConfig : public testing::TestWithParam<fs::path> {};

TEST_P(FuzzConfig, IsReadOrRefused) {
  fuzz(GetParam(), [](const fs::path& path) {
    fs::rename(path, path.parent_path() / "config.json");
    const auto model = describe_model(path.parent_path());
    const model::Family& family = model::family_for(model->config());
    EXPECT_FALSE(family.write_config(model->config()).empty());
  });
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

TEST_P(FuzzWordVectors, AreReadOrRefused) {
  fuzz(GetParam(), [](const fs::path& path) {
    const WordVectors vectors = read_word_vectors(path, {"the", "cat", "dog", "naïve", ""});
    for (const auto& [word, row] : vectors.rows)
      EXPECT_EQ(static_cast<int64_t>(row.size()), vectors.dimension);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, FuzzWordVectors,
                         testing::Values("vectors.txt", "vectors_no_header.txt", "vectors.bin"));

}  // namespace
}  // namespace heed::format

// Packed weights in a file that processes share.
#include "heed/engine/weight_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <future>
#include <thread>

#include "heed/base/file_lock.h"
#include "heed/engine/loaded_model.h"
#include "heed/interrupt.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> packed_files(const fs::path& cache) {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache))
    if (entry.path().extension() == ".packed") files.push_back(entry.path());
  return files;
}

fs::path only_file(const fs::path& cache) {
  const std::vector<fs::path> files = packed_files(cache);
  return files.size() == 1 ? files.front() : fs::path();
}

std::vector<int32_t> output(const Model& model) {
  return model.generate("the old sea", {.max_new_tokens = 8}).tokens;
}

/// Whether the files in `cache` that this process has mapped hold all packed weights: none is in
/// memory of its own.
bool shares_all(const Model& model, const fs::path& cache) {
  std::ifstream maps("/proc/self/maps");
  std::vector<std::pair<uintptr_t, uintptr_t>> ranges;
  for (std::string line; std::getline(maps, line);)
    if (line.ends_with(".packed") && line.find(cache.string()) != line.npos) {
      const size_t dash = line.find('-');
      ranges.emplace_back(std::stoull(line.substr(0, dash), nullptr, 16),
                          std::stoull(line.substr(dash + 1), nullptr, 16));
    }
  size_t packed = 0;
  for (const Parameter& parameter : loaded(model).transformer->parameters().all()) {
    const std::span<const std::byte> bytes = parameter.packed.layout_bytes();
    if (bytes.empty()) continue;
    ++packed;
    const auto begin = reinterpret_cast<uintptr_t>(bytes.data());
    if (std::ranges::none_of(ranges, [&](const auto& range) {
          return begin >= range.first && begin + bytes.size() <= range.second;
        }))
      return false;
  }
  return packed > 0;
}

class WeightCacheTest : public testing::Test {
 protected:
  Model load() const {
    return Model::load(models().decoder(),
                       {.weights = WeightType::q4_0, .weight_cache = cache_ / "new"});
  }
  fs::path cache() const { return cache_ / "new"; }

  const std::vector<int32_t> expected_ =
      output(Model::load(models().decoder(), {.weights = WeightType::q4_0}));
  TemporaryDirectory cache_;
};

TEST_F(WeightCacheTest, TheFirstLoadWritesTheFileAndAllReadFromIt) {
  const Model first = load();
  const fs::path file = only_file(cache());
  ASSERT_FALSE(file.empty());
  EXPECT_TRUE(shares_all(first, cache()));
  fs::create_hard_link(file, cache_ / "first");
  const Model second = load();
  EXPECT_TRUE(shares_all(second, cache()));
  EXPECT_TRUE(fs::equivalent(file, cache_ / "first"));
  EXPECT_EQ(output(first), expected_);
  EXPECT_EQ(output(second), expected_);
}

TEST_F(WeightCacheTest, AFileThatDoesNotFitIsReplaced) {
  load();
  const fs::path file = only_file(cache());
  const std::string right = read_file(file);
  std::string damaged = right;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  for (const std::string& wrong :
       {damaged, right.substr(0, right.size() / 2), std::string(), std::string("hello")}) {
    write_quickly(file, wrong);
    const Model model = load();
    EXPECT_TRUE(shares_all(model, cache())) << wrong.size();
    EXPECT_EQ(output(model), expected_);
    EXPECT_TRUE(read_file(file) == right);
  }
}

TEST_F(WeightCacheTest, ARemovedFileDoesNotDisturbModelsThatReadIt) {
  const Model model = load();
  fs::remove_all(cache());
  EXPECT_EQ(output(model), expected_);
}

TEST_F(WeightCacheTest, TypesOfWeightsAndModelsHaveFilesOfTheirOwn) {
  const Model q4 = load();
  const LoadOptions q8{.weights = WeightType::q8_0, .weight_cache = cache()};
  const LoadOptions stored{.weight_cache = cache()};
  const Model others[]{Model::load(models().decoder(), q8), Model::load(models().encoder(), stored),
                       Model::load(models().translator(), stored),
                       Model::load(models().translator(), q8)};
  EXPECT_EQ(packed_files(cache()).size(), 5u);
  for (const Model& other : others) EXPECT_TRUE(shares_all(other, cache()));
  EXPECT_TRUE(shares_all(q4, cache()));
  EXPECT_EQ(others[2].translate("the sea").text(),
            Model::load(models().translator()).translate("the sea").text());
  EXPECT_EQ(others[1].embed("the sea"), Model::load(models().encoder()).embed("the sea"));
}

TEST_F(WeightCacheTest, RandomWeightsHaveAFileOfTheirOwn) {
  load();
  const fs::path file = only_file(cache());
  fs::create_hard_link(file, cache_ / "first");
  const Model other =
      Model::load(models().decoder(),
                  {.weights = WeightType::q4_0, .random_weights = 5, .weight_cache = cache()});
  EXPECT_TRUE(shares_all(other, cache()));
  EXPECT_TRUE(fs::equivalent(file, cache_ / "first"));
}

TEST_F(WeightCacheTest, AModelWithoutPackedWeightsMakesNoDirectory) {
  const Model model = Model::load(models().decoder(), {.weight_cache = cache()});
  EXPECT_FALSE(fs::exists(cache()));
}

TEST_F(WeightCacheTest, AnEncoderIn16BitsKeepsNoOtherCopyOfItsMatrices) {
  const fs::path encoder = cache_ / "encoder";
  write_encoder(encoder, false);
  store_in_16_bits(encoder);
  const std::vector<float> expected = Model::load(encoder).embed("the sea");
  const Model model = Model::load(encoder, {.weight_cache = cache()});
  EXPECT_TRUE(shares_all(model, cache()));
  EXPECT_EQ(model.embed("the sea"), expected);
  for (const Parameter& parameter : loaded(model).transformer->parameters().all())
    EXPECT_NE(parameter.packed.defined(), parameter.value.raw() != nullptr) << parameter.name;
}

TEST_F(WeightCacheTest, ADraftModelSharesItsWeights) {
  const Model model = Model::load(
      models().decoder(),
      {.weights = WeightType::q8_0,
       .weight_cache = cache(),
       .speculation = {.draft = models().decoder(), .draft_weights = WeightType::q4_0}});
  EXPECT_EQ(packed_files(cache()).size(), 2u);
  EXPECT_EQ(output(model), output(Model::load(models().decoder(), {.weights = WeightType::q8_0})));
}

TEST_F(WeightCacheTest, ModelsThatAreLoadedAtOnceShareOneFile) {
  std::vector<std::optional<Model>> loaded(4);
  {
    std::vector<std::jthread> threads;
    for (std::optional<Model>& model : loaded) threads.emplace_back([&] { model = load(); });
  }
  for (const std::optional<Model>& model : loaded) {
    EXPECT_TRUE(shares_all(*model, cache()));
    EXPECT_EQ(output(*model), expected_);
  }
}

TEST_F(WeightCacheTest, AWriterThatDiedIsNotWaitedFor) {
  load();
  const fs::path file = only_file(cache()), left = file.string() + ".1073741824-0.tmp";
  fs::remove(file);
  write_quickly(left, "half");
  write_quickly(file.string() + ".lock", "");
  EXPECT_TRUE(shares_all(load(), cache()));
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(WeightCacheTest, WaitingForAnotherWriterCanBeInterrupted) {
  load();
  const fs::path file = only_file(cache());
  fs::remove(file);
  const auto held = try_lock_file(file.string() + ".lock");
  ASSERT_TRUE(held);
  const auto begin = std::chrono::steady_clock::now();
  const InterruptScope scope(
      [&] { return std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(200); });
  EXPECT_THROW(load(), Interrupted);
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(WeightCacheTest, AProcessThatWaitedReadsWhatTheWriterMade) {
  load();
  const fs::path file = only_file(cache());
  fs::rename(file, cache_ / "made");
  auto held = try_lock_file(file.string() + ".lock");
  ASSERT_TRUE(held);
  auto waiting = std::async(std::launch::async, [&] { return load(); });
  EXPECT_EQ(waiting.wait_for(std::chrono::milliseconds(200)), std::future_status::timeout);
  fs::create_hard_link(cache_ / "made", file);
  EXPECT_TRUE(shares_all(waiting.get(), cache()));
  EXPECT_TRUE(fs::equivalent(file, cache_ / "made"));
}

TEST_F(WeightCacheTest, ADirectoryThatCannotBeWrittenIsAnError) {
  write_quickly(cache_ / "file", "");
  const fs::path file = cache_ / "file";
  expect_error(
      [&] { Model::load(models().decoder(), {.weights = WeightType::q4_0, .weight_cache = file}); },
      file.string());
}

TEST_F(WeightCacheTest, AModelThatDoesNotExistIsAnError) {
  expect_error([&] { Model::load(cache_ / "missing", {.weight_cache = cache()}); },
               "missing is not a model directory");
}

}  // namespace
}  // namespace heed::engine

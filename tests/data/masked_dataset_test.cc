#include "heed/data/masked_dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"

namespace heed::data {
namespace {

using Tokens = std::vector<int32_t>;
constexpr int32_t kClass = 1, kSeparator = 2, kMask = 3, kFirst = 4, kVocabulary = 500;

Masking masking() {
  Masking masking{.mask_id = kMask, .prefix = {kClass}, .suffix = {kSeparator}, .special = {}};
  masking.special.assign(kVocabulary, false);
  std::fill_n(masking.special.begin(), kFirst, true);
  return masking;
}

Documents documents_of(int64_t count, int64_t length) {
  std::vector<Tokens> documents(static_cast<size_t>(count));
  int32_t next = 0;
  for (Tokens& document : documents)
    for (int64_t i = 0; i < length; ++i)
      document.push_back(kFirst + next++ % (kVocabulary - kFirst));
  return std::make_shared<const std::vector<Tokens>>(std::move(documents));
}

std::vector<int64_t> all_of(const MaskedDataset& set) {
  std::vector<int64_t> all(set.lengths().size());
  std::iota(all.begin(), all.end(), int64_t{0});
  return all;
}

TEST(MaskedDataset, SelectsAndMasksThePapersFractions) {
  const Documents documents = documents_of(200, 100);
  const MaskedDataset set(documents, cut_into_windows(*documents, 100), masking());
  const Batch batch = set.batch(all_of(set), 0);
  double masked = 0, unchanged = 0;
  for (size_t i = 0; i < batch.rows.size(); ++i) {
    const int32_t input = batch.source[static_cast<size_t>(batch.rows[i])];
    masked += input == kMask;
    unchanged += input == batch.target[i];
  }
  const auto selected = static_cast<double>(batch.rows.size());
  EXPECT_NEAR(selected / 20000, 0.15, 0.01);
  EXPECT_NEAR(masked / selected, 0.8, 0.03);
  EXPECT_NEAR(unchanged / selected, 0.1, 0.03);
}

TEST(MaskedDataset, ChangesOnlyTheSelectedRows) {
  const Documents documents = documents_of(3, 20);
  const MaskedDataset set(documents, cut_into_windows(*documents, 8), masking());
  Batch batch = set.batch(all_of(set), 7);
  for (size_t i = 0; i < batch.rows.size(); ++i)
    batch.source[static_cast<size_t>(batch.rows[i])] = batch.target[i];
  Tokens expected;
  for (const Window& window : cut_into_windows(*documents, 8)) {
    expected.push_back(kClass);
    const auto tokens = tokens_of(documents, window);
    expected.insert(expected.end(), tokens.begin(), tokens.end());
    expected.push_back(kSeparator);
  }
  EXPECT_EQ(batch.source, expected);
  EXPECT_EQ(set.lengths()[0].source, 10);
}

TEST(MaskedDataset, NeverSelectsSpecialTokens) {
  const auto documents = std::make_shared<const std::vector<Tokens>>(
      std::vector<Tokens>{{kSeparator, 9, kSeparator, kMask}, {kSeparator, kSeparator}});
  const MaskedDataset set(documents, cut_into_windows(*documents, 8), masking());
  ASSERT_EQ(set.lengths().size(), 1u) << "a window with only special tokens must be dropped";
  for (int64_t epoch = 0; epoch < 50; ++epoch) {
    const Batch batch = set.batch(std::vector<int64_t>{0}, epoch);
    EXPECT_EQ(batch.target, Tokens{9});
    EXPECT_EQ(batch.rows, Tokens{2});
    EXPECT_TRUE(batch.source[2] == kMask || batch.source[2] >= kFirst);
  }
  Masking none = masking();
  none.special.assign(kVocabulary, true);
  EXPECT_THROW(MaskedDataset(documents, {}, none), Error);
}

TEST(MaskedDataset, SelectionDependsOnlyOnWindowAndEpoch) {
  const Documents documents = documents_of(4, 50);
  const MaskedDataset set(documents, cut_into_windows(*documents, 50), masking());
  EXPECT_EQ(set.batch(all_of(set), 3).source, set.batch(all_of(set), 3).source);
  EXPECT_NE(set.batch(all_of(set), 3).source, set.batch(all_of(set), 4).source);
  // The selection does not depend on the other windows of the batch.
  const Batch alone = set.batch(std::vector<int64_t>{2}, 3), all = set.batch(all_of(set), 3);
  EXPECT_TRUE(std::equal(alone.source.begin(), alone.source.end(), all.source.begin() + 2 * 52));
}

}  // namespace
}  // namespace heed::data

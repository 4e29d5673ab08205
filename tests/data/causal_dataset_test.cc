#include "heed/data/causal_dataset.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "heed/base/error.h"

namespace heed::data {
namespace {

using Tokens = std::vector<int32_t>;
constexpr int32_t kFirstToken = 1;

Documents three_documents() {
  return std::make_shared<const std::vector<Tokens>>(
      std::vector<Tokens>{{10, 11, 12, 13, 14, 1}, {20, 1}, {30, 31, 32, 1}});
}

TEST(Windows, ContainEachTokenOnce) {
  const Documents documents = three_documents();
  const std::vector<Window> windows = cut_into_windows(*documents, 4);
  EXPECT_EQ(windows, (std::vector<Window>{{0, 0, 4}, {0, 4, 6}, {1, 0, 2}, {2, 0, 4}}));
  EXPECT_THROW(cut_into_windows(*documents, 0), Error);
}

TEST(CausalDataset, PredictsEveryTokenOfEveryDocumentOnce) {
  const Documents documents = three_documents();
  for (const int64_t max_length : {1, 2, 3, 100}) {
    const CausalDataset set(documents, cut_into_windows(*documents, max_length), kFirstToken);
    std::vector<int64_t> all(set.lengths().size());
    std::iota(all.begin(), all.end(), int64_t{0});
    std::map<int32_t, int> seen;
    for (const int32_t token : set.batch(all, 0).target) ++seen[token];
    std::map<int32_t, int> expected;
    for (const Tokens& document : *documents)
      for (const int32_t token : document) ++expected[token];
    EXPECT_EQ(seen, expected) << max_length;
  }
}

TEST(CausalDataset, ReadsTheTokenBeforeAWindowAndTheStartTokenBeforeADocument) {
  const Documents documents = three_documents();
  const CausalDataset set(documents, cut_into_windows(*documents, 4), kFirstToken);
  const Batch batch = set.batch(std::vector<int64_t>{1, 2, 0}, 0);
  EXPECT_EQ(batch.decoder_input, (Tokens{13, 14, kFirstToken, 20, kFirstToken, 10, 11, 12}));
  EXPECT_EQ(batch.target, (Tokens{14, 1, 20, 1, 10, 11, 12, 13}));
  EXPECT_EQ(batch.target_offsets, (Tokens{0, 2, 4, 8}));
  EXPECT_TRUE(batch.source.empty());
  EXPECT_EQ(set.lengths()[0].target, 4);
  EXPECT_THROW(set.batch(std::vector<int64_t>{4}, 0), Error);
}

}  // namespace
}  // namespace heed::data

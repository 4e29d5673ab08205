#include "heed/generate/speculation/ngram_drafts.h"

#include <gtest/gtest.h>

namespace heed::generate {
namespace {

/// An output of these tokens.
class Fixed : public DecodingState {
 public:
  explicit Fixed(std::vector<int32_t> prompt) : prompt_(std::move(prompt)) {}

  std::span<const int32_t> prompt() const override { return prompt_; }
  std::span<Sequence> sequences() override { return {&sequence_, 1}; }
  bool ended() const override { return false; }
  void advance(Logits&) override {}
  void add(std::vector<int32_t> tokens) {
    sequence_.tokens.insert(sequence_.tokens.end(), tokens.begin(), tokens.end());
  }

 private:
  std::vector<int32_t> prompt_;
  Sequence sequence_;
};

struct Found {
  int kind;
  std::vector<int32_t> draft;
  bool operator==(const Found&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Found& found) {
  return out << found.kind << ": " << testing::PrintToString(found.draft);
}

Found draft(NgramDrafts& drafts, Fixed& decoding, int64_t tokens,
            std::span<const int32_t> source = {}) {
  Found found;
  DraftRequest request{1, source, decoding, found.draft};
  found.kind = drafts.kind(request);
  if (found.kind == 0) return found;
  const DraftSource::Wanted wanted[] = {{&request, tokens}};
  drafts.draft(wanted);
  return found;
}

TEST(NgramDrafts, ContinueAsTheSameTokensDidBefore) {
  NgramDrafts drafts;
  Fixed decoding({10, 11, 12, 13, 14, 15});
  EXPECT_EQ(draft(drafts, decoding, 3), (Found{0, {}}));
  decoding.add({7, 11});
  EXPECT_EQ(draft(drafts, decoding, 3), (Found{0, {}}));  // a single token is no match
  decoding.add({12});
  EXPECT_EQ(draft(drafts, decoding, 3), (Found{1, {13, 14, 15}}));
  decoding.add({13});
  EXPECT_EQ(draft(drafts, decoding, 2), (Found{2, {14, 15}}));
}

TEST(NgramDrafts, PreferTheLongestMatchAndThenTheNewest) {
  NgramDrafts drafts;
  Fixed longest({1, 2, 3, 50, 9, 2, 3, 60, 8});
  longest.add({1, 2, 3});
  EXPECT_EQ(draft(drafts, longest, 1), (Found{2, {50}}));
  drafts.forget(1);
  Fixed newest({5, 2, 3, 50, 6, 2, 3, 60});
  newest.add({7, 2, 3});
  EXPECT_EQ(draft(drafts, newest, 1), (Found{1, {60}}));
}

TEST(NgramDrafts, RepeatWhatRepeatsItself) {
  NgramDrafts drafts;
  Fixed decoding({1, 2, 3, 1, 2});
  EXPECT_EQ(draft(drafts, decoding, 7), (Found{1, {3, 1, 2, 3, 1, 2, 3}}));
  drafts.forget(1);
  Fixed same({4, 4, 4});
  EXPECT_EQ(draft(drafts, same, 4), (Found{1, {4, 4, 4, 4}}));
}

TEST(NgramDrafts, ReadTheSourceOfAnEncoder) {
  NgramDrafts drafts;
  Fixed decoding({0});
  decoding.add({21, 22});
  const int32_t source[] = {20, 21, 22, 23};
  EXPECT_EQ(draft(drafts, decoding, 2, source), (Found{1, {23, 0}}));
}

TEST(NgramDrafts, ForgetARequest) {
  NgramDrafts drafts;
  Fixed first({1, 2, 3, 1, 2});
  EXPECT_EQ(draft(drafts, first, 1).draft, std::vector<int32_t>{3});
  drafts.forget(1);
  Fixed second({9, 1, 2});
  EXPECT_EQ(draft(drafts, second, 1), (Found{0, {}}));
}

}  // namespace
}  // namespace heed::generate

#include "heed/data/batch.h"

#include <gtest/gtest.h>

#include "heed/base/error.h"

namespace heed::data {
namespace {

using Tokens = std::vector<int32_t>;
constexpr int32_t kStart = 0;

const std::vector<Example> kExamples{{{5, 6, 1}, {7, 1}}, {{8, 1}, {9, 10, 11, 1}}, {{1}, {1}}};

TEST(Batch, PacksSequencesWithoutPadding) {
  const Batch batch = make_batch(kExamples, std::vector<int64_t>{1, 0}, kStart);
  EXPECT_EQ(batch.source, (Tokens{8, 1, 5, 6, 1}));
  EXPECT_EQ(batch.source_offsets, (Tokens{0, 2, 5}));
  EXPECT_EQ(batch.target, (Tokens{9, 10, 11, 1, 7, 1}));
  EXPECT_EQ(batch.target_offsets, (Tokens{0, 4, 6}));
  EXPECT_EQ(batch.examples, (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(batch.sequences(), 2);
  EXPECT_EQ(batch.source_tokens(), 5);
  EXPECT_EQ(batch.target_tokens(), 6);
}

TEST(Batch, ShiftsTheTargetRightAfterTheStartToken) {
  const Batch batch = make_batch(kExamples, std::vector<int64_t>{1, 2, 0}, kStart);
  EXPECT_EQ(batch.decoder_input, (Tokens{kStart, 9, 10, 11, kStart, kStart, 7}));
  EXPECT_EQ(batch.decoder_input.size(), batch.target.size());
}

TEST(Batch, OfNoExamplesHasNoSequences) {
  const Batch batch = make_batch(kExamples, {}, kStart);
  EXPECT_EQ(batch.sequences(), 0);
  EXPECT_EQ(batch.source_offsets, Tokens{0});
  EXPECT_EQ(batch.target_offsets, Tokens{0});
}

TEST(Batch, KeepsOffsetsOfAnEmptyTarget) {
  const std::vector<Example> examples{{{1}, {}}, {{1}, {4, 1}}};
  const Batch batch = make_batch(examples, std::vector<int64_t>{0, 1}, kStart);
  EXPECT_EQ(batch.target_offsets, (Tokens{0, 0, 2}));
  EXPECT_EQ(batch.decoder_input, (Tokens{kStart, 4}));
}

TEST(Batch, RejectsAnIndexOutOfRange) {
  for (const int64_t index : {int64_t{3}, int64_t{-1}}) try {
      make_batch(kExamples, std::vector<int64_t>{index}, kStart);
      FAIL() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                fmt::format("example {} is out of range, expected 0 to 2", index));
    }
}

}  // namespace
}  // namespace heed::data

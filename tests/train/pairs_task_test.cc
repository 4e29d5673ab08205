#include <gtest/gtest.h>

#include "tests/train/tiny_run.h"

namespace heed::train {
namespace {

/// A SentencePiece model with its first pieces in another order. The model is a protobuf message
/// that begins with its pieces: for each a tag, a length of one byte and the bytes.
std::string with_first_pieces(const std::string& model, const std::vector<size_t>& order) {
  std::vector<std::string> pieces;
  size_t place = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const size_t size = 2 + static_cast<unsigned char>(model.at(place + 1));
    pieces.push_back(model.substr(place, size));
    place += size;
  }
  std::string result;
  for (const size_t i : order) result += pieces[i];
  return result + model.substr(place);
}

TEST(PairsTask, UsesTheSpecialTokenIdsOfAnExistingVocabulary) {
  const TemporaryDirectory folder;
  testing::write_text(folder);
  TrainConfig config = testing::tiny_config(folder);
  std::string learned;
  for (const auto& [name, bytes] : testing::task_of(config)->files())
    if (name == "source.spm") learned = bytes;
  config.vocabulary.model = (folder / "pieces.model").string();
  write_quickly(config.vocabulary.model, with_first_pieces(learned, {2, 0, 1}));
  const auto task = testing::task_of(config);
  EXPECT_EQ(task->piece(0), "<unk>");
  EXPECT_EQ(task->model().pad_id, 1);
  EXPECT_EQ(task->model().decoder_start_id, 1);
  EXPECT_EQ(task->model().eos_id, 2);
  const int64_t first = 0;
  const data::Batch batch = task->train().batch({&first, 1}, 0);
  EXPECT_EQ(batch.decoder_input.front(), 1);
  EXPECT_EQ(batch.target.back(), 2) << "the target ends with the vocabulary's </s>";
}

}  // namespace
}  // namespace heed::train

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "heed/text/tokenizer.h"
#include "heed/train/tasks/task.h"

namespace heed::train {

/// Sets the vocabulary size and special tokens of `model` to those of the model directory `start`.
void take_vocabulary(const std::filesystem::path& start, model::ModelConfig& model);

/// The special tokens that a learned tokenizer puts around a text: </s> at either end.
struct TextFrame {
  bool begin = false, end = false;
  bool mask = false;  // whether the vocabulary has <mask>
};
TextFrame frame_of(TaskKind task);

/// The minimum vocabulary.size of a tokenizer that is learned for a task: its special tokens, the
/// 256 bytes if it encodes every text exactly, and one piece more.
int64_t min_vocabulary(TaskKind task);

/// Sets the vocabulary size and special tokens of `model` to those of a vocabulary learned for a
/// task.
void take_new_vocabulary(int64_t size, TaskKind task, model::ModelConfig& model);

/// A tokenizer and the files to save it as.
struct TokenizerWithFiles {
  text::Tokenizer tokenizer;
  std::vector<checkpoint::NamedFile> files;
};

/// Learns a vocabulary of `size` pieces from the texts by byte-pair encoding (SentencePiece). It
/// includes <pad> = 0, </s> = 1, <unk> = 2 and a piece for each byte, so that every text is encoded
/// and decoded exactly. As in Llama's vocabulary, a piece begins with the space before a word; the
/// first word of a line is treated as if it had one. Throws Error when `size` is too small for the
/// characters of the texts.
TokenizerWithFiles learn_tokenizer(const std::vector<std::string>& texts, int64_t size,
                                   TextFrame frame);

/// The tokenizer of the model directory `start` or, if that is empty, one learned from the texts.
/// Sets the vocabulary size and special tokens of `model`.
TokenizerWithFiles prepare_tokenizer(const TrainConfig& config, const std::filesystem::path& start,
                                     const std::vector<std::string>& texts,
                                     model::ModelConfig& model, Observer& observer);

/// The piece of a token; empty if the tokenizer has none.
std::string piece_of(const text::Tokenizer& tokenizer, int32_t token);

}  // namespace heed::train

#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "heed/text/tokenizer.h"
#include "heed/train/tasks/task.h"

namespace heed::train {

/// Gives `model` the vocabulary of the model directory `start`: its size and special tokens. Throws
/// Error, naming both numbers, when the tokenizer has more pieces than the embedding rows.
void take_vocabulary(const std::filesystem::path& start, int64_t pieces, model::ModelConfig& model);

/// What a new tokenizer puts around a text; end of sequence does for both ends.
struct TextFrame {
  bool begin = false, end = false;
  bool mask = false;  // there is a <mask> as well
};
TextFrame frame_of(TaskKind task);

/// The least vocabulary.size of a tokenizer that is learned for a task: with a piece beside the
/// special tokens and, where every text is to be encoded exactly, the bytes.
int64_t min_vocabulary(TaskKind task);

/// Gives `model` the size and the special tokens of a vocabulary that is learned for a task.
void take_new_vocabulary(int64_t size, TaskKind task, model::ModelConfig& model);

/// A text::Tokenizer and the files that describe it.
struct TokenizerWithFiles {
  text::Tokenizer tokenizer;
  std::vector<checkpoint::NamedFile> files;
};

/// Learns `size` pieces from the texts by byte-pair encoding (SentencePiece), beside <pad> = 0,
/// </s> = 1, <unk> = 2 and a piece for each byte, so that every text is encoded and decoded
/// exactly. As Llama's, pieces begin with the space before a word; the beginning of a line counts
/// as one. Throws Error when the size is too small for the text's characters.
TokenizerWithFiles learn_tokenizer(const std::vector<std::string>& texts, int64_t size,
                                   TextFrame frame);

/// The tokenizer of the model directory `start`, or else one that is learned as `config` says; what
/// it decides about the model goes into `model`.
TokenizerWithFiles prepare_tokenizer(const TrainConfig& config, const std::filesystem::path& start,
                                     const std::vector<std::string>& texts,
                                     model::ModelConfig& model, const Log& log);

/// A token as its piece; empty where the tokenizer has none.
std::string piece_of(const text::Tokenizer& tokenizer, int32_t token);

}  // namespace heed::train

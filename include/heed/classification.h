#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace heed {

/// Two texts that a model reads as one input: a premise and a hypothesis, a query and a document.
struct TextPair {
  std::string first, second;  // UTF-8
};

/// A text, or a pair of texts, whose special tokens and segments the tokenizer places.
using ClassifyInput = std::variant<std::string, TextPair>;

/// Options of classification.
struct ClassifyOptions {
  /// Longer texts are truncated to this many tokens, and of a pair the longer text; at least 1
  /// [max_seq_length of sentence_bert_config.json, else model_max_length of tokenizer_config.json,
  /// else the model's context length].
  std::optional<int64_t> max_seq_length = {};
  /// Of rerank() alone: put before the query, or the instruction of a language model that answers
  /// yes or no, in place of that of the files.
  std::optional<std::string> prompt = {};
  /// Largest number of tokens of a batch; 0: 512, on a GPU 16,384. Does not change results.
  int64_t batch_tokens = 0;

  bool operator==(const ClassifyOptions&) const = default;
};

/// A label and its score.
struct LabelScore {
  std::string label;  // its name in config.json
  /// The probability of the label: by a softmax over all labels; by a sigmoid, for a model that may
  /// give a text several labels or has only one; of a regression the value itself. The function
  /// follows from problem_type and the number of labels as in `transformers`.
  double score = 0;
};

/// A document and how well it answers a query.
struct RankedDocument {
  int64_t index = 0;  // among the documents, from 0
  double score = 0;   // higher is better (Model::rerank())
};

/// Neighbouring tokens with the same label, such as the name of a person.
struct Entity {
  std::string label;                       // without "B-" and "I-"
  double score = 0;                        // the mean of the tokens' probabilities
  std::string text;                        // of the tokens, decoded
  int64_t first_token = 0, end_token = 0;  // of LabelledText::tokens
  /// The part of the given text, in characters (Unicode code points), as `transformers`' pipelines
  /// count them: the first, and the one after the last.
  int64_t start = 0, end = 0;
};

/// A text and its entities, in order.
struct LabelledText {
  std::vector<int32_t> tokens;   // with special tokens
  std::vector<Entity> entities;  // in order
};

}  // namespace heed

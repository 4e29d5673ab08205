#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/generate/generator.h"
#include "heed/generate/stop_strings.h"

namespace heed::generate {

/// The output of one prompt while it grows.
class Output {
 public:
  /// `prompt` is the decoder's, `number` that of the prompt among all. The options must outlive
  /// this.
  Output(const GeneratorOptions& options, const std::optional<text::Tokenizer>& tokenizer,
         std::span<const int32_t> prompt, uint64_t number, int64_t max_new_tokens);

  /// Chooses the next token from its logits [V], which it changes.
  void advance(std::span<float> logits);
  bool finished() const { return finished_; }

  /// The text that was completed since the last call.
  std::string take_text() { return std::exchange(fresh_text_, {}); }

  /// The tokens that the decoder has not read yet.
  std::span<const int32_t> unseen() const;
  std::vector<int32_t> cache_rows;

  Generation result;

 private:
  void finish(FinishReason reason);
  void add_text(const std::string& text);
  void note_probabilities(std::span<const float> logits, int32_t chosen);

  const GeneratorOptions& options_;
  std::span<const int32_t> prompt_;
  uint64_t number_;
  int64_t max_new_tokens_;
  TokenCounts counts_;
  std::optional<text::DecodeStream> decoded_;
  StopStrings stop_;
  std::string fresh_text_;
  bool finished_ = false;
};

}  // namespace heed::generate

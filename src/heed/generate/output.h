#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/generate/generator.h"
#include "heed/generate/stop_strings.h"

namespace heed::generate {

/// The output of one prompt while it is generated.
class Output {
 public:
  /// `prompt` is the first input of the decoder, `number` the prompt's number among all. Options
  /// and prompt must outlive this.
  Output(const GeneratorOptions& options, const std::optional<text::Tokenizer>& tokenizer,
         std::span<const int32_t> prompt, uint64_t number, int64_t max_new_tokens);

  /// Appends the token chosen from `logits` [V], which are changed by penalties and biases.
  void advance(std::span<float> logits);
  bool finished() const { return finished_; }

  /// The text added since the last call.
  std::string take_text() { return std::exchange(new_text_, {}); }

  /// The tokens that the decoder has not read: the prompt, then the last token.
  std::span<const int32_t> unread() const;
  std::vector<int32_t> cache_rows;

  Generation result;

 private:
  void finish(FinishReason reason);
  void add_text(const std::string& text);
  void record_log_probabilities(std::span<const float> logits, int32_t chosen);

  const GeneratorOptions& options_;
  std::span<const int32_t> prompt_;
  uint64_t number_;
  int64_t max_new_tokens_;
  TokenCounts counts_;
  std::optional<text::DecodeStream> decoded_;
  StopStrings stop_;
  std::string new_text_;
  bool finished_ = false;
};

}  // namespace heed::generate

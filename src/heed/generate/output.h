#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/generate/decoding.h"
#include "heed/generate/generator.h"
#include "heed/generate/stop_strings.h"

namespace heed::generate {

/// The output of one prompt while it is sampled (or chosen greedily).
class Output : public Decoding {
 public:
  /// `prompt` is the first input of the decoder, `number` the prompt's number among all. Options
  /// and prompt must outlive this.
  Output(const GeneratorOptions& options, const std::optional<text::Tokenizer>& tokenizer,
         std::span<const int32_t> prompt, uint64_t number, int64_t max_new_tokens);

  std::span<const int32_t> prompt() const override { return prompt_; }
  std::span<Path> paths() override { return {&path_, 1}; }
  bool ended() const override { return ended_; }
  /// Appends the token chosen from `logits` [1, V], which are changed by penalties and biases.
  void advance(Tensor& logits) override;
  int64_t max_draft() const override {
    return max_new_tokens_ - static_cast<int64_t>(path_.tokens.size()) - 1;
  }
  int32_t guess(std::span<float> logits, size_t ahead) const override;
  int64_t advance_drafted(Tensor& logits, std::span<const int32_t> draft) override;

  /// The text added since the last call.
  std::string take_text() { return std::exchange(new_text_, {}); }
  std::span<const int32_t> tokens() const { return path_.tokens; }
  /// The result, once it has ended; the log-probabilities of `tokens` before.
  const Generation& result() const { return result_; }

 private:
  int32_t choose(std::span<float> logits, size_t ahead) const;
  bool is_end(int32_t token) const;
  void append(std::span<float> logits);
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
  Path path_;
  Generation result_;
  bool ended_ = false;
};

}  // namespace heed::generate

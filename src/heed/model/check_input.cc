#include "heed/model/check_input.h"

#include "heed/base/error.h"

namespace heed::model {

namespace {

void check_below(std::span<const int32_t> tokens, int64_t vocab_size) {
  for (const int32_t token : tokens)
    require_input(token >= 0 && token < vocab_size,
                  "token {} is outside the vocabulary of {} tokens", token, vocab_size);
}

}  // namespace

void check_tokens(const ModelConfig& config, std::span<const int32_t> tokens) {
  check_below(tokens, config.vocab_size);
}

void check_source_tokens(const ModelConfig& config, std::span<const int32_t> tokens) {
  check_below(tokens, config.source_vocab_size());
}

void check_length(const ModelConfig& config, std::span<const int32_t> sequence) {
  require_input(!sequence.empty(), "no tokens");
  require_input(config.positions == PositionKind::none ||
                    static_cast<int64_t>(sequence.size()) <= config.max_positions,
                "{} tokens, the model reads at most {}", sequence.size(), config.max_positions);
}

}  // namespace heed::model

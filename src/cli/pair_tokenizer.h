#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "cli/model_options.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::cli {

/// The tokenizer of an encoder-decoder: with a vocabulary for each side, as translation models have
/// them (Marian's and heed's own), or one for both (T5, BART).
class PairTokenizer {
 public:
  /// Throws Error when there is none, and when it does not fit the model.
  PairTokenizer(const ModelOptions& options, const model::Transformer& model);

  std::vector<int32_t> encode_source(std::string_view text) const;
  std::vector<int32_t> encode_target(std::string_view text) const;
  /// A token of a target, for those who look at single ones.
  std::string word(int32_t token) const;

 private:
  std::variant<text::Tokenizer, text::TranslationTokenizer> tokenizer_;
};

}  // namespace heed::cli

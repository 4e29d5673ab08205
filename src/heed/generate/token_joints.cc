#include "heed/generate/token_joints.h"

#include "heed/text/spaced_words.h"
#include "heed/text/utf8.h"

namespace heed::generate {

/// Bytes that are no whole character are taken for a part of a word.
TokenJoints::TokenJoints(const text::TranslationTokenizer& tokenizer) {
  for (int32_t token = 0; token < tokenizer.vocab_size(); ++token) {
    const std::string bytes =
        tokenizer.is_special(token) ? std::string() : tokenizer.token_bytes(token);
    const bool is_text = text::is_valid_utf8(bytes);
    begins_inside_.push_back(!is_text || text::begins_in_spaced_word(bytes));
    ends_inside_.push_back(!is_text || text::ends_in_spaced_word(bytes));
  }
}

}  // namespace heed::generate

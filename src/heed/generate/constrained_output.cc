#include "heed/generate/constrained_output.h"

#include <utility>

#include "heed/base/error.h"

namespace heed::generate {

std::shared_ptr<const constrain::Vocabulary> output_vocabulary(const text::Tokenizer& tokenizer,
                                                               int64_t vocab_size,
                                                               std::vector<int32_t> end_tokens) {
  std::vector<std::string> bytes(static_cast<size_t>(vocab_size));
  for (size_t id = 0; id < bytes.size(); ++id)
    if (const auto token = static_cast<int32_t>(id); !tokenizer.is_special(token))
      bytes[id] = tokenizer.token_bytes(token);
  return constrain::Vocabulary::of(std::move(bytes), std::move(end_tokens));
}

void ConstrainedOutput::restrict(const TokenLogits& logits) {
  mask_.resize(matcher_.vocabulary().mask_words());
  matcher_.mask(mask_);
  logits.keep(mask_);
}

void ConstrainedOutput::append(int32_t token) {
  keep_drafted(0);
  require(matcher_.accept(token), "token {} was chosen, which the constraint forbids", token);
}

bool ConstrainedOutput::draft(int32_t token) {
  if (!matcher_.accept(token)) return false;
  ++drafted_;
  return true;
}

void ConstrainedOutput::keep_drafted(size_t count) {
  if (drafted_ <= count) return;
  matcher_.rollback(drafted_ - count);
  drafted_ = count;
}

}  // namespace heed::generate

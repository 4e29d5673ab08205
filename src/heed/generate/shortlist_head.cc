#include "heed/generate/shortlist_head.h"

#include <algorithm>

namespace heed::generate {

bool ShortlistHead::choose(std::span<const Part> parts) {
  const bool all = parts.empty() || std::ranges::find(parts, nullptr, &Part::tokens) != parts.end();
  parts_.assign(parts.begin(), parts.end());
  std::erase_if(chosen_, [&](const Chosen& one) {
    return std::ranges::find(parts, one.tokens, &Part::tokens) == parts.end();
  });
  if (all || !model_.head().has_rows()) return false;
  for (const Part& part : parts)
    if (std::ranges::find(chosen_, part.tokens, &Chosen::tokens) == chosen_.end())
      chosen_.push_back({part.tokens, model_.head().rows(*part.tokens)});
  return true;
}

std::vector<Tensor> ShortlistHead::logits(Context& context, const Tensor& states) const {
  std::vector<Tensor> logits;
  int64_t begin = 0;
  for (const Part& part : parts_) {
    const auto own = std::ranges::find(chosen_, part.tokens, &Chosen::tokens);
    logits.push_back(
        model_.head().logits(context, states.row_slice(begin, begin + part.rows), own->rows));
    begin += part.rows;
  }
  return logits;
}

}  // namespace heed::generate

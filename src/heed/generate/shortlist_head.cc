#include "heed/generate/shortlist_head.h"

#include <algorithm>

namespace heed::generate {

/// Whether the rows have the tokens of all lists, and not far more than these.
bool ShortlistHead::serves(std::span<const TokenList> lists) const {
  constexpr size_t kMostUnused = 1;  // lists of ended requests for each one that is active
  return rows_ && lists_.size() <= (1 + kMostUnused) * lists.size() &&
         std::ranges::all_of(lists, [&](const TokenList& list) {
           return std::ranges::find(lists_, list) != lists_.end();
         });
}

void ShortlistHead::choose(std::span<const TokenList> lists) {
  const bool all = lists.empty() || std::ranges::find(lists, nullptr) != lists.end() ||
                   !model_.head().has_rows();
  if (all) {
    rows_.reset();
    tokens_.clear();
    lists_.clear();
    return;
  }
  if (serves(lists)) return;
  lists_.assign(lists.begin(), lists.end());
  std::vector<bool> chosen(static_cast<size_t>(model_.config().vocab_size));
  for (const TokenList& list : lists_)
    for (const int32_t token : *list) chosen.at(static_cast<size_t>(token)) = true;
  tokens_.clear();
  for (size_t token = 0; token < chosen.size(); ++token)
    if (chosen[token]) tokens_.push_back(static_cast<int32_t>(token));
  rows_ = model_.head().rows(tokens_);
}

Tensor ShortlistHead::logits(Context& context, const Tensor& states) const {
  return rows_ ? model_.head().logits(context, states, *rows_) : model_.logits(context, states);
}

}  // namespace heed::generate

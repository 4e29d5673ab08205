#include "heed/tasks/multi_vector_tokens.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::tasks {

MultiVectorTokens::MultiVectorTokens(const MultiVectorSettings& settings,
                                     const text::Tokenizer& tokenizer,
                                     std::optional<EmbedTask> task, int64_t context)
    : first_token_(settings.first_token) {
  const bool query = task == EmbedTask::query;
  // A word that is no token would otherwise stand for all unknown words.
  if (query ? settings.skips_in_queries : settings.skips_in_documents)
    for (const std::string& word : settings.skiplist)
      if (const auto id = tokenizer.id_of(word)) skipped_.push_back(*id);
  std::ranges::sort(skipped_);
  const auto& expansion = settings.expansion;
  if (!expansion || !query) return;
  expanded_length_ = static_cast<size_t>(expansion->length);
  attends_ = expansion->attend;
  require(context == 0 || expansion->length <= context,
          "queries are expanded to {} tokens, and the model reads at most {}", expansion->length,
          context);
  const text::SpecialTokens& special = tokenizer.special_tokens();
  const auto token = !expansion->token.empty() ? tokenizer.id_of(expansion->token)
                     : special.mask            ? special.mask
                                               : special.eos;
  require(token.has_value(), "queries are expanded with {}, which the tokenizer does not have",
          expansion->token.empty() ? "the mask token" : quoted(expansion->token));
  expansion_token_ = *token;
}

MultiVectorText MultiVectorTokens::read(std::vector<int32_t> ids) const {
  const size_t own = ids.size();
  MultiVectorText text{.ids = std::move(ids), .attended = 0, .scored = {}};
  text.ids.resize(std::max(own, expanded_length_), expansion_token_);
  text.attended = static_cast<int32_t>(hides() ? own : text.ids.size());
  for (auto i = static_cast<size_t>(first_token_); i < text.ids.size(); ++i)
    if (i >= own || !std::ranges::binary_search(skipped_, text.ids[i]))
      text.scored.push_back(static_cast<int32_t>(i));
  return text;
}

}  // namespace heed::tasks

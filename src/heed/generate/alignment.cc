#include "heed/generate/alignment.h"

#include <fmt/format.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/word_alignment.h"

namespace heed::generate {

std::vector<AlignedWords> align_words(const text::TranslationTokenizer& tokenizer,
                                      const std::vector<int32_t>& source,
                                      const SearchResult& translation) {
  const std::vector<int32_t>& target = translation.hypothesis.tokens;
  const std::vector<Tensor>& weights = translation.cross_attention;
  require(weights.size() == target.size(),
          "{} tokens of a translation have cross-attention, expected all {}", weights.size(),
          target.size());
  const auto [first, last] = tokenizer.text_of(source);
  if (target.empty() || first == last) return {};
  const auto at = [&](size_t index) { return source.begin() + static_cast<std::ptrdiff_t>(index); };
  const std::vector<int32_t> source_words = data::word_numbers(
      {at(first), at(last)}, [&](int32_t token) { return tokenizer.source_piece(token); });
  const std::vector<int32_t> target_words =
      data::word_numbers(target, [&](int32_t token) { return tokenizer.piece(token); });

  const auto words = static_cast<size_t>(source_words.back()) + 1;
  std::vector<std::vector<float>> shares(static_cast<size_t>(target_words.back()) + 1,
                                         std::vector<float>(words));
  for (size_t t = 0; t < target.size(); ++t)
    for (size_t s = 0; s < source_words.size(); ++s)
      shares[static_cast<size_t>(target_words[t])][static_cast<size_t>(source_words[s])] +=
          weights[t].data<float>()[first + s];
  std::vector<AlignedWords> alignment;
  for (size_t word = 0; word < shares.size(); ++word) {
    const auto most = std::max_element(shares[word].begin(), shares[word].end());
    alignment.push_back(
        {static_cast<int32_t>(most - shares[word].begin()), static_cast<int32_t>(word)});
  }
  return alignment;
}

}  // namespace heed::generate

namespace heed {

std::string pharaoh(const std::vector<AlignedWords>& alignment) {
  std::string text;
  for (const auto& [source, target] : alignment)
    text += fmt::format("{}{}-{}", text.empty() ? "" : " ", source, target);
  return text;
}

}  // namespace heed

#include "heed/data/word_alignment.h"

#include <algorithm>
#include <map>

#include "heed/base/error.h"
#include "heed/base/parse_number.h"
#include "heed/base/quote.h"

namespace heed::data {

std::vector<Link> parse_pharaoh(std::string_view text) {
  constexpr std::string_view kSpaces = " \t";
  std::vector<Link> links;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(kSpaces), text.size()));
    if (text.empty()) return links;
    const std::string_view pair = text.substr(0, text.find_first_of(kSpaces));
    text.remove_prefix(pair.size());
    const size_t dash = std::min(pair.find('-'), pair.size() - 1);
    const auto source = parse_number<int32_t>(pair.substr(0, dash));
    const auto target = parse_number<int32_t>(pair.substr(dash + 1));
    require(source && target && *target >= 0,
            "{} is no link of two words, expected their numbers, as in 0-2", quoted(pair));
    links.push_back({*source, *target});
  }
}

std::vector<Link> token_links(const std::vector<Link>& words, const std::vector<int32_t>& source,
                              const std::vector<int32_t>& target) {
  std::multimap<int32_t, int32_t> tokens_of;  // of each word of the source
  for (size_t i = 0; i < source.size(); ++i)
    if (source[i] >= 0) tokens_of.emplace(source[i], static_cast<int32_t>(i));
  std::multimap<int32_t, int32_t> words_of;  // of each word of the target
  for (const auto& [from, to] : words) words_of.emplace(to, from);
  std::vector<Link> links;
  for (size_t j = 0; j < target.size(); ++j) {
    if (target[j] < 0) continue;
    const auto [first, last] = words_of.equal_range(target[j]);
    for (auto word = first; word != last; ++word) {
      const auto [begin, end] = tokens_of.equal_range(word->second);
      for (auto token = begin; token != end; ++token)
        links.push_back({token->second, static_cast<int32_t>(j)});
    }
  }
  return links;
}

}  // namespace heed::data

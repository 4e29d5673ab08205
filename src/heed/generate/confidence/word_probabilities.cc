#include "heed/generate/confidence/word_probabilities.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "heed/base/error.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::generate {
namespace {

/// The bytes of a text that are not white space, of which decoding never adds or removes one.
size_t count_filled(std::string_view text) {
  size_t count = 0;
  text::for_each_code_point(text, [&](text::CodePoint point, std::string_view bytes) {
    if (!text::is_white_space(point.value)) count += bytes.size();
  });
  return count;
}

/// For each token the filled bytes of the text before its end, which are those of the first tokens
/// decoded alone.
std::vector<size_t> token_ends(const text::TranslationTokenizer& tokenizer,
                               const std::vector<int32_t>& tokens, size_t all) {
  std::vector<size_t> ends;
  size_t end = 0;
  for (size_t count = 1; count <= tokens.size(); ++count) {
    const std::string begin = tokenizer.decode_target(std::span(tokens).first(count));
    end = std::min(std::max(end, count_filled(begin)), all);
    ends.push_back(end);
  }
  return ends;
}

}  // namespace

WordProbabilities word_probabilities(const text::TranslationTokenizer& tokenizer,
                                     const std::string& text, const Hypothesis& hypothesis) {
  const std::vector<double>& of_tokens = hypothesis.token_log_probabilities;
  require(of_tokens.size() == hypothesis.tokens.size(),
          "{} tokens of a translation have probabilities, expected all {}", of_tokens.size(),
          hypothesis.tokens.size());
  WordProbabilities result{.words = metrics::word_ranges(text), .log_probabilities = {}};
  const std::vector<size_t> ends = token_ends(tokenizer, hypothesis.tokens, count_filled(text));
  size_t begin = 0, first = 0;  // of the word, in filled bytes; the first token that reaches it
  for (const auto& [word_begin, word_end] : result.words) {
    const std::string_view word = std::string_view(text).substr(word_begin, word_end - word_begin);
    const size_t end = begin + word.size();
    while (first < ends.size() && ends[first] < begin) ++first;
    double sum = 0;
    // A token that adds nothing, as a space alone, belongs to the word behind it.
    for (size_t t = first; t < ends.size(); ++t) {
      const size_t token_begin = t == 0 ? 0 : ends[t - 1];
      if (token_begin >= end) break;
      if (ends[t] > begin || token_begin == begin) sum += of_tokens[t];
    }
    result.log_probabilities.push_back(sum);
    begin = end;
  }
  if (!of_tokens.empty())
    result.mean_token_log_probability = std::accumulate(of_tokens.begin(), of_tokens.end(), 0.0) /
                                        static_cast<double>(of_tokens.size());
  return result;
}

}  // namespace heed::generate

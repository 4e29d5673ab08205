#include "heed/generate/translator.h"

#include <algorithm>
#include <numeric>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::generate {
namespace {

/// Lines of similar length go together, so that the paths of a batch end at about the same step.
std::vector<std::vector<size_t>> batches_by_length(const std::vector<TranslatedLine>& lines,
                                                   int64_t budget) {
  std::vector<size_t> order(lines.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return lines[a].source.size() > lines[b].source.size();
  });
  std::vector<std::vector<size_t>> batches;
  int64_t tokens = budget;
  for (const size_t line : order) {
    if (lines[line].source.size() <= 1) continue;  // nothing but end of sequence
    const auto length = static_cast<int64_t>(lines[line].source.size());
    if (tokens + length > budget) {
      batches.emplace_back();
      tokens = 0;
    }
    batches.back().push_back(line);
    tokens += length;
  }
  return batches;
}

}  // namespace

Translator::Translator(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
                       Options options)
    : model_(model), tokenizer_(tokenizer), options_(options) {
  require(tokenizer.vocab_size() == model.config().vocab_size,
          "the tokenizer has {} pieces, the model's vocabulary {}", tokenizer.vocab_size(),
          model.config().vocab_size);
}

std::vector<TranslatedLine> Translator::translate(const std::vector<std::string>& lines,
                                                  int64_t first_line) const {
  std::vector<TranslatedLine> results(lines.size());
  for (size_t i = 0; i < lines.size(); ++i) {
    const auto number = first_line + static_cast<int64_t>(i);
    require(text::is_valid_utf8(lines[i]), "line {} is not valid UTF-8", number);
    results[i].source = tokenizer_.encode_source(lines[i]);
    require(static_cast<int64_t>(results[i].source.size()) <= model_.config().max_positions,
            "line {} has {} tokens, the model reads at most {}", number, results[i].source.size(),
            model_.config().max_positions);
  }
  const int64_t budget = std::max<int64_t>(options_.batch_tokens / options_.search.beam, 1);
  for (const std::vector<size_t>& batch : batches_by_length(results, budget)) {
    std::vector<int32_t> ids, offsets{0};
    for (const size_t line : batch) {
      ids.insert(ids.end(), results[line].source.begin(), results[line].source.end());
      offsets.push_back(static_cast<int32_t>(ids.size()));
    }
    auto found = search(model_, options_.dtype, {ids, offsets}, options_.search);
    for (size_t i = 0; i < batch.size(); ++i)
      for (Hypothesis& hypothesis : found[i]) {
        std::string text = tokenizer_.decode_target(hypothesis.tokens);
        results[batch[i]].candidates.push_back({std::move(text), std::move(hypothesis)});
      }
  }
  return results;
}

}  // namespace heed::generate

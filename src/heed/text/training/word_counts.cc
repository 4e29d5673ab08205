#include "heed/text/training/word_counts.h"

#include "heed/base/mutex.h"
#include "heed/base/parallel.h"
#include "heed/text/text_size.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

void count_words_of(const std::string& text, const PreTokenizer& pre_tokenizer,
                    WordCounts& counts) {
  if (text.empty()) return;
  TextPieces pieces{{{with_replacements(text), code_point_at(text, 0).length}, std::nullopt}};
  pre_tokenizer.apply(pieces, max_text_size(pieces.front().text.text.size()));
  for (TextPiece& piece : pieces) ++counts[std::move(piece.text.text)];
}

}  // namespace

WordCounts count_words(const std::vector<std::string>& texts, const PreTokenizer& pre_tokenizer) {
  constexpr int64_t kTexts = 4096;  // of a chunk, whose words are added to the others at once
  WordCounts total;
  Mutex adding;
  parallel_for(static_cast<int64_t>(texts.size()), kTexts, [&](int64_t begin, int64_t end) {
    WordCounts counts;
    for (int64_t i = begin; i < end; ++i)
      count_words_of(texts[static_cast<size_t>(i)], pre_tokenizer, counts);
    const MutexLock lock(adding);
    if (total.empty()) total.swap(counts);
    for (const auto& [word, count] : counts) total[word] += count;
  });
  return total;
}

}  // namespace heed::text

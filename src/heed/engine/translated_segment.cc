#include "heed/engine/translated_segment.h"

namespace heed::engine {

document::TranslatedSegment translated_segment(const std::string& source,
                                               const Candidate& candidate) {
  std::vector<std::pair<int32_t, int32_t>> words;
  for (const AlignedWords& pair : candidate.alignment) words.emplace_back(pair.source, pair.target);
  return {.text = candidate.text,
          .alignment = document::aligned_spans(source, candidate.text, words)};
}

}  // namespace heed::engine

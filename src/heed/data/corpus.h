#pragma once

#include <string>

namespace heed::data {

/// Parallel text: where it is, in which languages, and how much of it is trained on.
struct Corpus {
  std::string source = {}, target = {};  // a sentence per line; line i of target translates line i
  std::string tsv = {};                  // or one file with lines of source, tab, target
  std::string alignments = {};           // links of the words of each pair, "0-0 1-2"; empty: none
  std::string source_language = {}, target_language = {};  // codes; empty: not given
  double weight = 0;  // how many pairs are drawn, beside those of other corpora; 0: not given

  bool operator==(const Corpus&) const = default;
};

}  // namespace heed::data

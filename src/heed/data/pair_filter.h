#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/data/batch.h"
#include "heed/data/parallel_text.h"

namespace heed::data {

/// Why a sentence pair is not trained on.
enum class Drop {
  empty,         // a side has no token before end of sequence
  too_long,      // a side has more than max_tokens
  length_ratio,  // longer > max_ratio * shorter + slack
  copied,        // both sides are the same
  duplicate,     // a pair of these languages before is the same
  mojibake,      // a side was decoded as another encoding than its own
  language,      // a side seems to be in another language
  alignment,     // its tokens seldom translate each other
};
constexpr std::array kDrops{Drop::empty,     Drop::too_long, Drop::length_ratio, Drop::copied,
                            Drop::duplicate, Drop::mojibake, Drop::language,     Drop::alignment};
/// "empty", "too long", "by length ratio", ...
std::string_view name_of(Drop reason);

/// Limits on sentence pairs for training. Lengths are in tokens and include end of sequence.
struct LengthLimits {
  int64_t max_tokens = 256;  // per side
  double max_ratio = 5.0;    // maximum of (longer - slack) / shorter
  int64_t slack = 5;
};

/// Why the lengths of a pair exclude it, if they do: the first limit that it exceeds.
std::optional<Drop> length_problem(const Example& example, const LengthLimits& limits);

/// The pairs of a text that were kept and dropped, by reason, with a few examples of each.
class FilterReport {
 public:
  /// The most examples of a reason.
  static constexpr size_t kExamples = 5;

  /// Counts a pair of the text's line `line` (from 1), which is dropped if there is a reason.
  void add(std::optional<Drop> reason, int64_t line, const SentencePair& pair);
  /// Counts those of another text, without its examples.
  void add_counts(const FilterReport& other);
  /// The counts of several texts.
  static FilterReport total(std::span<const FilterReport> reports);

  int64_t kept() const { return kept_; }
  int64_t dropped(Drop reason) const { return dropped_[static_cast<size_t>(reason)].count; }
  int64_t total() const;
  /// "29000 of 29100 pairs kept; dropped: 3 empty, 90 too long, 7 by length ratio".
  std::string text() const;
  /// {"pairs": 29100, "kept": 29000, "dropped": {"empty": {"count": 3, "examples": [{"line": 17,
  /// "source": "...", "target": "..."}]}}}.
  nlohmann::ordered_json json() const;

 private:
  struct Example {
    int64_t line;
    SentencePair pair;
  };
  struct Dropped {
    int64_t count = 0;
    std::vector<Example> examples = {};
  };

  int64_t kept_ = 0;
  std::array<Dropped, kDrops.size()> dropped_ = {};
};

}  // namespace heed::data

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "heed/embedding.h"
#include "heed/tasks/modules/multi_vector_settings.h"
#include "heed/text/tokenizer.h"

namespace heed::tasks {

/// The tokens of a text, each of which may have a vector.
struct MultiVectorText {
  std::vector<int32_t> ids;     // with those of an expansion
  int32_t attended = 0;         // the first so many are attended to
  std::vector<int32_t> scored;  // the places of those that have a vector
};

/// Expands queries and chooses the tokens that have a vector.
class MultiVectorTokens {
 public:
  /// `task` says whether the texts are queries; `context` is the length of the longest text that
  /// the model reads, 0: any length. Throws Error when queries cannot be expanded.
  MultiVectorTokens(const MultiVectorSettings& settings, const text::Tokenizer& tokenizer,
                    std::optional<EmbedTask> task, int64_t context);

  MultiVectorText read(std::vector<int32_t> ids) const;
  /// Whether texts have tokens that are not attended to.
  bool hides() const { return expanded_length_ > 0 && !attends_; }

 private:
  size_t expanded_length_ = 0;  // of a query at least; 0: queries are not expanded
  int32_t expansion_token_ = -1;
  bool attends_ = false;
  int64_t first_token_;
  std::vector<int32_t> skipped_;  // tokens without a vector, ascending
};

}  // namespace heed::tasks

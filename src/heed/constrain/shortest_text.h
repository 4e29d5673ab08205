#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "heed/constrain/recognizer.h"

namespace heed::constrain {

/// The shortest ways to go on with the texts of a recognizer to an end. Lengths are in bytes. What
/// was found is kept.
///
/// Functions throw Error as those of Recognizer and Expressions that make states.
class ShortestText {
 public:
  explicit ShortestText(Recognizer& recognizer);

  /// Bytes that a text in this state lacks at least; kEndless for Recognizer::kDead.
  uint32_t length(uint32_t state);
  static constexpr uint32_t kEndless = Expressions::kUnbounded;
  /// The text of length(state) bytes that goes on from a state, of these the one that begins with
  /// the smallest byte at every place. What remains behind a part of it is that of the state there.
  std::string text(uint32_t state);

 private:
  uint32_t thread_length(Recognizer::Thread thread);
  uint32_t row_length(uint32_t row);
  uint32_t waiter_length(Earley::Waiter waiter) const;
  void find_item_lengths();
  void find_continuation_lengths();
  uint32_t expression_length(ExpressionId expression);
  uint32_t structural_length(ExpressionId expression);
  uint32_t search_length(ExpressionId expression);

  Recognizer& recognizer_;
  std::vector<uint32_t> item_lengths_, continuation_lengths_;
  std::unordered_map<ExpressionId, uint32_t> expression_lengths_;
  std::unordered_map<uint32_t, uint32_t> row_lengths_, state_lengths_;
};

}  // namespace heed::constrain

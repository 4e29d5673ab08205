#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heed/document/sentences/sentence_break.h"

namespace heed::document {

/// The numbers of a list whose items stand in one line: "1) Salt 2) Pepper". An item is a sentence.
class ListItems {
 public:
  /// `ordinals`: "1." may be an ordinal, so it does not begin a list.
  ListItems(const TextView& text, size_t line_end, bool ordinals)
      : text_(text), line_end_(line_end), ordinals_(ordinals) {}

  /// Called with the beginning of a sentence. Returns where its text begins, behind the number of
  /// an item; `start` itself if there is none.
  size_t begin_sentence(size_t start);
  /// Whether the next item begins at `position`, which stands behind a space.
  bool is_next_item(size_t position) const;

 private:
  struct Number {
    std::string bullet, suffix;  // "•", ".)"
    int64_t value = 0;           // 1 for "a" as well
    bool letter = false;
    size_t end = 0;  // behind it; 0: there is none
  };
  Number read(size_t position) const;

  const TextView& text_;
  size_t line_end_;
  bool ordinals_;
  Number last_ = {};  // of the list that has begun
};

}  // namespace heed::document

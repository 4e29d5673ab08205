#pragma once

#include <vector>

#include "heed/document/run.h"
#include "heed/document/target_words.h"

namespace heed::document {

/// Words `begin` to `end` of a translation; none if they are equal: then what is placed there
/// stands before word `begin`.
struct WordInterval {
  size_t begin = 0, end = 0;
};

/// The words that each item of a run encloses or, if it is kept, takes the place of. That of a
/// child lies in that of its parent, and those of two children of one parent do not cross.
std::vector<WordInterval> intervals_of(const Segment& segment, const Run& run, TargetWords target);

}  // namespace heed::document

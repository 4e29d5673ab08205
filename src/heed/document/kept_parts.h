#pragma once

#include <map>
#include <string_view>

#include "heed/document/document.h"
#include "heed/document/run.h"
#include "heed/document/target_words.h"

namespace heed::document {

/// Parts of a text, by their first bytes.
using KeptParts = std::map<size_t, TargetWord>;

/// What `text`, a translation of `segment`, has of the run's kept parts, each at most once:
/// placeholders, even if with other spaces or case, and the others as whole words; these with other
/// case only if there is no alignment to ask. Placeholders that are no part of the segment, or one
/// too many, are TargetWord::kDropped.
KeptParts find_kept_parts(const Segment& segment, const Run& run, std::string_view text,
                          bool is_aligned);

}  // namespace heed::document

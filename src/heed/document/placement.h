#pragma once

#include <string>

#include "heed/document/document.h"
#include "heed/document/run.h"

namespace heed::document {

/// The translation of a segment, as the document has it: with the items of its run.
/// Document::with() says what is guaranteed. Throws Error for a text that is not UTF-8 and for a
/// range beyond a text.
std::string place(const Segment& segment, const Run& run, const TranslatedSegment& translated);

}  // namespace heed::document

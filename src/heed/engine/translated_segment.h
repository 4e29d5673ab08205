#pragma once

#include <string>

#include "heed/document/document.h"
#include "heed/search.h"

namespace heed::engine {

/// A translation of `source`, which is one line, for Document::with().
document::TranslatedSegment translated_segment(const std::string& source,
                                               const Candidate& candidate);

}  // namespace heed::engine

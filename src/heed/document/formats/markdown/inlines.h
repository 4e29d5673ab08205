#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "heed/document/run.h"

namespace heed::document {

/// The labels of a document's link reference definitions.
using LinkLabels = std::set<std::string, std::less<>>;

/// The inline content of a block (https://spec.commonmark.org/0.31.2/#inlines): emphasis, links,
/// images, code, HTML, and ~~ of GFM. Lines are separated by line breaks.
std::vector<InlineToken> markdown_inlines(std::string_view text, const LinkLabels& labels);

}  // namespace heed::document

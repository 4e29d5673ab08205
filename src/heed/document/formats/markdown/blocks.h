#pragma once

#include <string_view>
#include <vector>

#include "heed/document/document.h"

namespace heed::document {

/// A paragraph, a heading or a cell of a table: its lines, without what stands before and after
/// them.
struct MarkdownBlock {
  std::vector<ByteRange> lines;
  bool cell = false;
};

/// The blocks of a document that hold text (https://spec.commonmark.org/0.31.2/, tables of GFM), in
/// linear time. Code, HTML blocks, front matter and what is nested deeper than 100 lists and quotes
/// are none.
std::vector<MarkdownBlock> markdown_blocks(std::string_view text);

}  // namespace heed::document

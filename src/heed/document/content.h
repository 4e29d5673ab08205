#pragma once

#include <functional>
#include <string>
#include <vector>

#include "heed/document/document.h"
#include "heed/document/run.h"

namespace heed::document {

/// A part of what is written to a place of a document.
struct SlotPart {
  std::string literal = {};  // before the segment
  size_t segment = 0;
};

/// A place of a document where translations go.
struct Slot {
  ByteRange replaced;  // bytes of the document
  std::vector<SlotPart> parts;
  std::string literal = {};  // after the parts
  /// What is written for the parts, from what they are. None: that itself.
  std::function<std::string(std::string)> encode = {};
};

/// What a Document has: its bytes, and what is replaced in them.
struct DocumentContent {
  std::string bytes;
  std::vector<Segment> segments;
  std::vector<Run> runs;    // of each segment
  std::vector<Slot> slots;  // in the order of the document

  /// Adds a segment, and returns its index.
  size_t add(BuiltRun built);
  /// Adds segments of the text `source`, and returns what is written for it: the segments, and what
  /// is between them. `rest` gets what follows the last one.
  std::vector<SlotPart> add_parts(std::string_view source, std::vector<BuiltRun> built,
                                  std::string& rest);
  /// Adds segments that are written where they are: the first token is at byte `begin`.
  void add_in_place(size_t begin, std::vector<BuiltRun> built);
};

}  // namespace heed::document

#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/document/document.h"
#include "heed/document/placeholders.h"

namespace heed::document {

/// Nesting of elements within a segment. Deeper tags stay where they are, between segments.
inline constexpr int kMaxInlineDepth = 32;

/// What stands in a segment besides its text. Its children follow it.
struct Inline {
  /// `element` encloses `text`. `kept` reads as `text` and is written as `open`. `point` is at
  /// text.begin, such as an image.
  enum class Kind { element, kept, point };

  Kind kind = Kind::point;
  ByteRange text;
  std::string open, close;
  int32_t parent = -1;                             // an index of Run::items; -1: none
  bool placeholder = false;                        // found by find_placeholders()
  bool space_before = false, space_after = false;  // around a kept part or a point
};

/// How a format writes text.
using Escape = std::string (*)(std::string_view text);

/// The text as it is.
std::string unescaped(std::string_view text);

/// How tokens become segments.
struct RunRules {
  PlaceholderRules placeholders;
  Escape escape = unescaped;  // of translated text
  /// Escaped text is what placeholders are looked for in: `escape` makes none of what looks like
  /// one.
  bool escapes_placeholders = false;
  Escape escape_kept = unescaped;  // of placeholders
  bool single_spaces = true;       // white space of the text is single spaces
};

/// What a segment is made of.
struct Run {
  std::string source;         // as in the document
  std::vector<Inline> items;  // in the order of the document
  RunRules rules;
};

/// A token of a document.
struct InlineToken {
  /// `border` ends a segment, as a line break may.
  enum class Kind { text, open, close, kept, point, border };

  Kind kind = Kind::text;
  std::string raw = {};   // as in the document
  std::string text = {};  // what `text` and `kept` read as
  std::string name = {};  // of the element that `open` and `close` belong to
};

/// A segment and the bytes that it stands for, counted from the first token's.
struct BuiltRun {
  ByteRange replaced;
  Segment segment;
  Run run;
};

/// The segments of tokens that follow each other. Tags without a partner stay where they are, and
/// so does what surrounds the text of a segment: white space, images, elements that enclose all of
/// it. Texts without letters are no segments.
std::vector<BuiltRun> build_runs(const std::vector<InlineToken>& tokens, const RunRules& rules);

/// Whether there is a letter.
bool has_letter(std::string_view text);

}  // namespace heed::document

#pragma once

#include <memory>
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

struct Run;
class StructureCheck;

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
  /// What an element encloses that would else be empty, where the format has no such elements.
  std::string filler = {};
  /// Whether a translation has the items of its run, where a format may read them otherwise in
  /// another place; if not, the tags are respelled and set apart by spaces, and else the source
  /// stays. None: items are read the same everywhere.
  std::shared_ptr<const StructureCheck> check = {};
};

/// See RunRules::check.
class StructureCheck {
 public:
  virtual ~StructureCheck() = default;
  virtual bool has_items(const Run& run, std::string_view written) const = 0;
  /// `written` as it may stand in its place, which others do not have.
  virtual std::string in_place(std::string written) const = 0;
  /// Another way to write a tag whose element is in `depth` others.
  virtual std::string respelled(const std::string& tag, size_t depth) const = 0;
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
  /// How the tag is written if the text is translated; empty: as it is. The element then belongs to
  /// the segment even if it encloses all of it.
  std::string written = {};
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

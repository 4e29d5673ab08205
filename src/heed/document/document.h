#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heed::document {

struct DocumentContent;

/// What a document is written in.
enum class Format { text, html, xml, markdown, srt, vtt, po, xliff };

/// The name of a format, as options have it: "html". "?" beyond the last.
std::string_view name_of(Format format);

/// The format of a name. Throws Error that lists the names.
Format format_named(std::string_view name);

/// How names of files of a format end, in lower case: ".html", ".htm".
std::span<const std::string_view> extensions_of(Format format);
/// The format of a file, by how its name ends; none if no format has such names.
std::optional<Format> format_of_file(std::string_view name);

/// Bytes `begin` to `end` of a text; `end` is not part of it.
struct ByteRange {
  size_t begin = 0, end = 0;

  bool operator==(const ByteRange&) const = default;
};

/// A word of a segment's text and the word of its translation that belongs to it, as bytes of both.
/// A word may have several partners, or none.
struct AlignedSpans {
  ByteRange source, target;

  bool operator==(const AlignedSpans&) const = default;
};

/// A text to translate: what stands between two places where a sentence cannot go on, such as the
/// borders of a paragraph. It is plain UTF-8 without markup, with its character references decoded
/// and, unless the document preserves white space, with single spaces. It has no line breaks, no
/// white space at its ends, and at least one letter outside of `kept`.
struct Segment {
  std::string text;
  /// The parts of `text` that the result has as they are: placeholders, code, translate="no". They
  /// are sorted and do not overlap. A sentence should not be split inside of one.
  std::vector<ByteRange> kept;
};

/// The translation of a segment.
struct TranslatedSegment {
  std::string text = {};
  /// Where words of the segment went, in any order. Empty: not known; words are then taken to
  /// keep their places in proportion.
  std::vector<AlignedSpans> alignment = {};
};

/// `pairs` of words, which white space separates and which are counted from 0, as bytes of the two
/// texts. What is beyond them is left out.
std::vector<AlignedSpans> aligned_spans(std::string_view source, std::string_view target,
                                        const std::vector<std::pair<int32_t, int32_t>>& pairs);

/// What is kept as it is besides markup.
struct KeepOptions {
  bool placeholders = true;  // "%1$s", "{name}", "{{x}}", "${x}", URLs, e-mail addresses
  bool numbers = false;      // "12", "3.50", "1,000"
  /// The document comes from a text that was decoded before: what it says of its encoding does not
  /// count.
  bool decoded = false;
};

/// A document as texts to translate, and everything else, which stays as it is, byte by byte.
///
/// What with() guarantees for any translation and any alignment, however wrong:
/// - Every tag, comment and reference of a segment occurs exactly once in its translation, and each
///   element has the parent that it had. An element encloses the shortest stretch that holds all
///   words aligned with its own; where the stretches of two elements cross, each gets the longest
///   run of its own words. Elements beside each other follow their words, so their order may
///   change.
/// - Each kept part occurs unchanged and exactly once: where the translation has it, even if with
///   other spaces or case; else in place of the words that are aligned with it; else beside the
///   translation of the word before it. Placeholders of programs that the translation invents are
///   removed.
/// - A segment whose translation is empty keeps its text.
class Document {
 public:
  /// Reads a document of at most 1 GiB, in time and memory proportional to its size. Throws
  /// InputError for what is not UTF-8 or says that it is not, and for XML, XLIFF, PO and subtitles
  /// that do not follow their syntax, with the line. Any HTML, Markdown and text is read.
  static Document read(std::string bytes, Format format, const KeepOptions& keep = {});

  Document(Document&&) noexcept;
  Document& operator=(Document&&) noexcept;
  ~Document();

  /// In the order of the document.
  const std::vector<Segment>& segments() const;
  /// Whether there are tags or kept parts in segments, for which with() asks alignments.
  bool uses_alignments() const;
  /// The document with the translations of segments(), as many. Throws Error for another number,
  /// and for a translation that is not UTF-8 or an alignment beyond its texts.
  std::string with(std::span<const TranslatedSegment> translated) const;

 private:
  explicit Document(std::unique_ptr<DocumentContent> content);

  std::unique_ptr<DocumentContent> content_;
};

}  // namespace heed::document

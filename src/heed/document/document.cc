#include "heed/document/document.h"

#include <algorithm>
#include <array>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/names.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"
#include "heed/document/content.h"
#include "heed/document/formats/formats.h"
#include "heed/document/placement.h"
#include "heed/document/sentences/segment_parts.h"

namespace heed::document {
namespace {

constexpr size_t kMaxDocumentBytes = size_t{1} << 30;

struct FormatReader {
  std::string_view name;
  void (*read)(DocumentContent& content, const KeepOptions& keep);
  std::span<const std::string_view> extensions;
};
constexpr std::string_view kTextFiles[] = {".txt", ".text"},
                           kHtmlFiles[] = {".html", ".htm", ".xhtml"}, kXmlFiles[] = {".xml"},
                           kMarkdownFiles[] = {".md", ".markdown"}, kSrtFiles[] = {".srt"},
                           kVttFiles[] = {".vtt"}, kPoFiles[] = {".po", ".pot"},
                           kXliffFiles[] = {".xliff", ".xlf"};
constexpr std::array kFormats{FormatReader{"text", read_text, kTextFiles},
                              FormatReader{"html", read_html, kHtmlFiles},
                              FormatReader{"xml", read_xml, kXmlFiles},
                              FormatReader{"markdown", read_markdown, kMarkdownFiles},
                              FormatReader{"srt", read_srt, kSrtFiles},
                              FormatReader{"vtt", read_vtt, kVttFiles},
                              FormatReader{"po", read_po, kPoFiles},
                              FormatReader{"xliff", read_xliff, kXliffFiles}};

/// "UTF-16" of a mark at the beginning.
std::string_view other_encoding(std::string_view bytes) {
  if (bytes.starts_with(std::string_view("\xFF\xFE\0\0", 4)) ||
      bytes.starts_with(std::string_view("\0\0\xFE\xFF", 4)))
    return "UTF-32";
  return bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF") ? "UTF-16" : "";
}

/// The encoding that a document declares near its beginning, as HTML (charset=), XML (encoding=)
/// and PO do; empty if none.
std::string declared_encoding(std::string_view bytes) {
  constexpr size_t kNear = 1024;
  const std::string begin = lower_case(bytes.substr(0, kNear));
  for (const std::string_view key : {"charset=", "encoding="}) {
    const size_t found = begin.find(key);
    if (found == begin.npos) continue;
    const size_t name = begin.find_first_not_of("\"'", found + key.size());
    if (name == begin.npos) continue;
    return begin.substr(name, begin.find_first_of("\"'>; \\\n?", name) - name);
  }
  return {};
}

/// Throws InputError, with what the document says of itself.
void require_document_in_utf8(std::string_view bytes) {
  const std::string declared = is_valid_utf8(bytes) ? std::string() : declared_encoding(bytes);
  if (!declared.empty() && declared != "utf-8" && declared != "utf8")
    fail_input("the document says that it is {}, expected UTF-8: iconv -t UTF-8 converts it",
               quoted(declared));
  blame_input([&] { require_utf8(bytes, "the document"); });
}

}  // namespace

std::string_view name_of(Format format) {
  const auto index = static_cast<size_t>(format);
  return index < kFormats.size() ? kFormats[index].name : "?";
}

Format format_named(std::string_view name) { return named(name, enumerators<Format>()); }

std::span<const std::string_view> extensions_of(Format format) {
  return kFormats.at(static_cast<size_t>(format)).extensions;
}

std::optional<Format> format_of_file(std::string_view name) {
  const std::string lower = lower_case(name);
  for (const Format format : enumerators<Format>())
    for (const std::string_view extension : extensions_of(format))
      if (lower.ends_with(extension)) return format;
  return std::nullopt;
}

std::vector<AlignedSpans> aligned_spans(std::string_view source, std::string_view target,
                                        const std::vector<std::pair<int32_t, int32_t>>& pairs) {
  const std::vector<ByteRange> from = words_between_spaces(source),
                               to = words_between_spaces(target);
  std::vector<AlignedSpans> spans;
  for (const auto& [source_word, target_word] : pairs)
    if (source_word >= 0 && target_word >= 0 && static_cast<size_t>(source_word) < from.size() &&
        static_cast<size_t>(target_word) < to.size())
      spans.push_back(
          {from[static_cast<size_t>(source_word)], to[static_cast<size_t>(target_word)]});
  return spans;
}

size_t DocumentContent::add(BuiltRun built) {
  segments.push_back(std::move(built.segment));
  runs.push_back(std::move(built.run));
  return segments.size() - 1;
}

std::vector<SlotPart> DocumentContent::add_parts(std::string_view source,
                                                 std::vector<BuiltRun> built, std::string& rest) {
  std::vector<SlotPart> parts;
  size_t at = 0;
  for (BuiltRun& run : built) {
    const ByteRange replaced = run.replaced;
    parts.push_back({std::string(source.substr(at, replaced.begin - at)), add(std::move(run))});
    at = replaced.end;
  }
  rest = source.substr(at);
  return parts;
}

void DocumentContent::add_in_place(size_t begin, std::vector<BuiltRun> built) {
  for (BuiltRun& run : built) {
    const ByteRange replaced{begin + run.replaced.begin, begin + run.replaced.end};
    slots.push_back({replaced, {{"", add(std::move(run))}}});
  }
}

Document::Document(std::unique_ptr<DocumentContent> content) : content_(std::move(content)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

Document Document::read(std::string bytes, Format format, const KeepOptions& keep) {
  require_input(bytes.size() <= kMaxDocumentBytes, "the document has {} bytes, expected at most {}",
                bytes.size(), kMaxDocumentBytes);
  const std::string_view encoding = other_encoding(bytes);
  require_input(encoding.empty(), "the document is {}, expected UTF-8", encoding);
  require_document_in_utf8(bytes);
  auto content = std::make_unique<DocumentContent>();
  content->bytes = std::move(bytes);
  kFormats[static_cast<size_t>(format)].read(*content, keep);
  return Document(std::move(content));
}

const std::vector<Segment>& Document::segments() const { return content_->segments; }

bool Document::uses_alignments() const {
  return std::ranges::any_of(content_->runs, [](const Run& run) { return !run.items.empty(); });
}

std::string Document::with(std::span<const TranslatedSegment> translated) const {
  require(translated.size() == segments().size(),
          "a document of {} segments is given {} translations", segments().size(),
          translated.size());
  std::string result;
  size_t at = 0;
  for (const Slot& slot : content_->slots) {
    if (!slot.parts.empty() && std::ranges::all_of(slot.parts, [&](const SlotPart& part) {
          return trimmed(translated[part.segment].text).empty();
        }))
      continue;
    result.append(content_->bytes, at, slot.replaced.begin - at);
    std::string written;
    for (const SlotPart& part : slot.parts)
      written += part.literal + place(segments()[part.segment], content_->runs[part.segment],
                                      translated[part.segment]);
    written += slot.literal;
    result += slot.encode ? slot.encode(std::move(written)) : written;
    at = slot.replaced.end;
  }
  result.append(content_->bytes, at);
  return result;
}

}  // namespace heed::document

// HTML: its bytes stay as they are, but for texts and, where that is certain not to change the
// tree, the places of inline tags within their text.
#include <algorithm>
#include <array>

#include "heed/base/ascii.h"
#include "heed/base/byte_order_mark.h"
#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/document/content.h"
#include "heed/document/formats/formats.h"
#include "heed/document/formats/html/structure.h"
#include "heed/document/formats/html/tokens.h"

namespace heed::document {
namespace {

using HtmlKind = HtmlToken::Kind;
using Names = std::span<const std::string_view>;

/// Elements within a sentence.
constexpr std::array<std::string_view, 35> kInline{
    "a",     "abbr", "acronym", "b",      "bdi",  "bdo",   "big",  "cite",  "del",
    "dfn",   "em",   "font",    "i",      "ins",  "label", "mark", "q",     "s",
    "small", "span", "strike",  "strong", "sub",  "sup",   "time", "tt",    "u",
    "img",   "wbr",  "code",    "kbd",    "samp", "var",   "data", "output"};
constexpr std::array<std::string_view, 2> kPoints{"img", "wbr"};
/// Elements that hold no prose.
constexpr std::array<std::string_view, 13> kKept{"code",   "kbd",    "samp",    "var",   "svg",
                                                 "math",   "canvas", "audio",   "video", "object",
                                                 "applet", "ruby",   "template"};
/// Tags before the body.
constexpr std::array<std::string_view, 11> kOfHead{"html",     "head",     "title",   "meta",
                                                   "link",     "script",   "style",   "base",
                                                   "noscript", "template", "basefont"};
constexpr std::array<std::string_view, 13> kEmpty{"area",   "base",  "br",    "col",  "embed",
                                                  "hr",     "img",   "input", "link", "meta",
                                                  "source", "track", "wbr"};

bool is_named(std::string_view name, Names names) {
  return std::ranges::find(names, name) != names.end();
}

class HtmlReader {
 public:
  HtmlReader(DocumentContent& content, const KeepOptions& keep)
      : content_(content), decoded_(keep.decoded) {
    rules_.placeholders = {.common = keep.placeholders, .numbers = keep.numbers};
    rules_.escape = rules_.escape_kept = encoded_html;
  }

  void read() {
    const std::string_view bytes = content_.bytes;
    const std::string_view html = without_byte_order_mark(bytes);
    at_ = begin_ = bytes.size() - html.size();
    HtmlTokenizer tokenizer(html);
    HtmlToken token;
    while (tokenizer.next(token, structure_.is_foreign())) {
      read_token(token);
      at_ += token.raw.size();
    }
    if (!kept_.empty()) end_kept(false);
    flush(at_);
  }

 private:
  void read_token(const HtmlToken& token) {
    check_charset(token);
    in_body_before_ = in_body_;
    const bool before = structure_.is_certain();
    const bool was_in_region = structure_.is_in_region();
    structure_.read(token);
    const bool certain = before && structure_.is_certain();
    if (token.kind == HtmlKind::text && token.raw.find_first_not_of(" \t\n\r\f") != token.raw.npos)
      in_body_ = true;
    if (token.kind == HtmlKind::start && !is_named(token.name, kOfHead)) in_body_ = true;
    if (!kept_.empty()) return read_kept(token, was_in_region);
    if (token.kind == HtmlKind::start && (token.no_translate || is_named(token.name, kKept)) &&
        !is_named(token.name, kEmpty) && !(structure_.is_foreign() && token.closes_itself))
      return begin_kept(token, before);
    switch (token.kind) {
      case HtmlKind::text:
        add_text(token.raw);
        break;
      case HtmlKind::title:
        add_title(token.raw);
        break;
      case HtmlKind::comment:
        add_comment(token, certain);
        break;
      case HtmlKind::start:
      case HtmlKind::end:
        add_tag(token, certain);
        break;
      default:
        flush_around(token);
    }
    if (token.name == "pre") preformatted_ = token.kind == HtmlKind::start;
    if (token.kind == HtmlKind::end &&
        (token.name == "head" || token.name == "body" || token.name == "html"))
      in_body_ = false;
  }

  void check_charset(const HtmlToken& token) const {
    if (decoded_ || token.charset.empty() || token.charset == "utf-8" || token.charset == "utf8")
      return;
    const auto line = std::count(content_.bytes.begin(),
                                 content_.bytes.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
    fail_input("line {}: the document says that it is {}, expected UTF-8", line + 1,
               quoted(token.charset));
  }

  void add(InlineToken token) {
    if (run_.empty()) run_began_in_body_ = in_body_before_;
    run_.push_back(std::move(token));
  }

  void add_text(std::string_view raw) {
    // A line of preformatted text is a segment.
    if (!preformatted_) return add_line(raw);
    const size_t begin = at_;
    while (!raw.empty()) {
      const size_t end = std::min(raw.find_first_of("\r\n"), raw.size());
      add_line(raw.substr(0, end));
      raw.remove_prefix(end);
      at_ += end;
      const size_t breaks = std::min(raw.find_first_not_of("\r\n"), raw.size());
      if (breaks > 0) add({InlineToken::Kind::border, std::string(raw.substr(0, breaks))});
      raw.remove_prefix(breaks);
      at_ += breaks;
    }
    at_ = begin;
  }

  void add_line(std::string_view raw) {
    while (!raw.empty()) {
      const UnknownReference unknown = find_unknown_reference(raw);
      if (const std::string_view text = raw.substr(0, unknown.at); !text.empty())
        add({InlineToken::Kind::text, std::string(text), decoded_html(text)});
      if (unknown.size > 0)
        add({InlineToken::Kind::point, std::string(raw.substr(unknown.at, unknown.size))});
      raw.remove_prefix(unknown.at + unknown.size);
    }
  }

  void add_title(std::string_view raw) {
    flush(at_);
    add_line(raw);
    flush(at_ + raw.size());
  }

  void add_comment(const HtmlToken& token, bool certain) {
    // A comment before the first text may belong elsewhere.
    if (certain && !run_.empty() && run_began_in_body_)
      add({InlineToken::Kind::point, std::string(token.raw)});
    else
      flush_around(token);
  }

  void add_tag(const HtmlToken& token, bool certain) {
    const bool starts = token.kind == HtmlKind::start;
    if (!certain || !is_named(token.name, kInline) || (!starts && is_named(token.name, kPoints)))
      flush_around(token);
    else if (is_named(token.name, kPoints))
      add({InlineToken::Kind::point, std::string(token.raw)});
    else
      add({starts ? InlineToken::Kind::open : InlineToken::Kind::close, std::string(token.raw), "",
           token.name});
  }

  /// An element whose content is kept is one token if all in it is inline, else a border.
  void begin_kept(const HtmlToken& token, bool certain) {
    kept_ = token.name;
    kept_depth_ = 1;
    kept_begin_ = at_;
    kept_is_inline_ = certain && is_inline_kept(token.name);
    kept_text_.clear();
    kept_open_ = {token.name};
  }

  static bool is_inline_kept(std::string_view name) {
    return is_named(name, kInline) || name == "svg" || name == "math" || name == "ruby";
  }

  bool may_be_in_kept(std::string_view name) const {
    return is_named(name, kInline) ||
           (kept_ == "ruby" && (name == "ruby" || name == "rt" || name == "rp"));
  }

  void read_kept(const HtmlToken& token, bool was_in_region) {
    if (token.kind == HtmlKind::text) kept_text_ += decoded_html(token.raw);
    const bool tag = token.kind == HtmlKind::start || token.kind == HtmlKind::end;
    const bool empty = is_named(token.name, kEmpty) || token.closes_itself;
    if (tag && !was_in_region) {
      const bool starts = token.kind == HtmlKind::start;
      if (!may_be_in_kept(token.name)) kept_is_inline_ = false;
      if (starts && !is_named(token.name, kPoints)) kept_open_.push_back(token.name);
      if (!starts && !is_named(token.name, kPoints)) {
        if (kept_open_.empty() || kept_open_.back() != token.name)
          kept_is_inline_ = false;
        else
          kept_open_.pop_back();
      }
    } else if (tag && kept_ == token.name) {
      kept_open_.clear();
    }
    if (!tag || token.name != kept_) return;
    if (token.kind == HtmlKind::start && empty && structure_.is_foreign()) return;
    kept_depth_ += token.kind == HtmlKind::start ? 1 : -1;
    if (kept_depth_ > 0) return;
    at_ += token.raw.size();
    end_kept(kept_is_inline_ && kept_open_.empty() && structure_.is_certain());
    at_ -= token.raw.size();
  }

  /// What was kept ends at at_.
  void end_kept(bool is_inline) {
    if (is_inline) {
      const bool is_picture = kept_ == "svg" || kept_ == "math";
      const std::string raw = content_.bytes.substr(kept_begin_, at_ - kept_begin_);
      add({InlineToken::Kind::kept, raw, is_picture ? "" : std::string(trimmed(kept_text_))});
    } else {
      flush(kept_begin_, at_ - kept_begin_);
    }
    kept_.clear();
  }

  void flush_around(const HtmlToken& token) { flush(at_, token.raw.size()); }

  /// Ends the run before byte `end`; the next one begins `skipped` bytes later.
  void flush(size_t end, size_t skipped = 0) {
    rules_.single_spaces = !preformatted_;
    if (!run_.empty()) content_.add_in_place(begin_, build_runs(run_, rules_));
    run_.clear();
    begin_ = end + skipped;
  }

  DocumentContent& content_;
  const bool decoded_;
  RunRules rules_;
  HtmlStructure structure_;
  std::vector<InlineToken> run_;  // since the last border, which ended at byte begin_
  size_t at_ = 0, begin_ = 0;
  bool preformatted_ = false;
  bool in_body_ = false, in_body_before_ = false, run_began_in_body_ = false;
  // An element that must not be translated.
  std::string kept_;
  int64_t kept_depth_ = 0;
  size_t kept_begin_ = 0;
  bool kept_is_inline_ = false;
  std::string kept_text_;
  std::vector<std::string> kept_open_;
};

}  // namespace

void read_html(DocumentContent& content, const KeepOptions& keep) {
  HtmlReader(content, keep).read();
}

}  // namespace heed::document

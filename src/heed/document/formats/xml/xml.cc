// XML of any vocabulary: what an element has between its tags is one text if it is not only
// elements.
#include "heed/document/formats/xml/xml.h"

#include <algorithm>

#include "heed/base/ascii.h"
#include "heed/base/byte_order_mark.h"
#include "heed/base/utf8.h"
#include "heed/document/content.h"
#include "heed/document/formats/formats.h"

namespace heed::document {
namespace {

using XmlKind = XmlToken::Kind;

constexpr std::string_view kCdataBegin = "<![CDATA[", kCdataEnd = "]]>";

std::string cdata_content(std::string_view raw) {
  return std::string(
      raw.substr(kCdataBegin.size(), raw.size() - kCdataBegin.size() - kCdataEnd.size()));
}

/// A CDATA section cannot hold its end.
std::string escaped_cdata(std::string_view text) {
  std::string result(text);
  for (size_t at = result.find(kCdataEnd); at != result.npos; at = result.find(kCdataEnd, at + 3))
    result.replace(at, 3, "]]&gt;");
  return result;
}

bool is_blank_xml(std::string_view text) {
  return text.find_first_not_of(kWhiteSpace) == text.npos;
}

class XmlReader {
 public:
  XmlReader(DocumentContent& content, const KeepOptions& keep) : content_(content), keep_(keep) {}

  void read() {
    const std::string_view xml = without_byte_order_mark(content_.bytes);
    at_ = content_.bytes.size() - xml.size();
    tokens_ = xml_tokens(xml);
    ends_ = end_tags(tokens_);
    find_mixed();
    std::vector<bool> preserving{false};
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const XmlToken& token = tokens_[i];
      if (token.kind == XmlKind::end) preserving.pop_back();
      if (token.kind == XmlKind::cdata) add_cdata(token);
      at_ += token.raw.size();
      if (token.kind != XmlKind::start) continue;
      preserving.push_back(preserves_space(token, preserving.back()));
      if (is_kept(token)) {
        skip_to(i, ends_[i]);
      } else if (mixed_[i]) {
        add_content(i + 1, ends_[i], preserving.back());
        skip_to(i, ends_[i]);
      }
    }
  }

 private:
  static bool is_kept(const XmlToken& tag) {
    const auto translate = xml_attribute(tag, "translate"),
               its = xml_attribute(tag, "its:translate");
    const std::string_view name = local_name(tag.name);
    return translate == "no" || translate == "false" || its == "no" || name == "script" ||
           name == "style";
  }

  /// Which elements have text of their own.
  void find_mixed() {
    mixed_.assign(tokens_.size(), false);
    std::vector<size_t> open;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      if (tokens_[i].kind == XmlKind::start) open.push_back(i);
      if (tokens_[i].kind == XmlKind::end) open.pop_back();
      if (tokens_[i].kind == XmlKind::text && !open.empty() && !is_blank_xml(tokens_[i].raw))
        mixed_[open.back()] = true;
    }
  }

  /// Moves to before token `end`; tokens up to and with `i` were read.
  void skip_to(size_t& i, size_t end) {
    while (++i < end) at_ += tokens_[i].raw.size();
    --i;
  }

  /// A section alone in its element is a text, or holds HTML.
  void add_cdata(const XmlToken& token) {
    DocumentContent inner;
    inner.bytes = cdata_content(token.raw);
    const bool html = inner.bytes.find_first_of("<&") != inner.bytes.npos;
    KeepOptions keep = keep_;
    keep.decoded = true;
    (html ? read_html : read_text)(inner, keep);
    const size_t begin = at_ + kCdataBegin.size();
    for (Slot& slot : inner.slots) {
      slot.replaced.begin += begin;
      slot.replaced.end += begin;
      for (SlotPart& part : slot.parts) part.segment += content_.segments.size();
      if (!html) slot.encode = escaped_cdata;
      content_.slots.push_back(std::move(slot));
    }
    std::ranges::move(inner.segments, std::back_inserter(content_.segments));
    std::ranges::move(inner.runs, std::back_inserter(content_.runs));
  }

  void add_content(size_t begin, size_t end, bool preserving) {
    std::vector<InlineToken> tokens;
    for (size_t i = begin; i < end; ++i) {
      const XmlToken& token = tokens_[i];
      const std::string raw(token.raw);
      switch (token.kind) {
        case XmlKind::text:
          append_xml_text(tokens, raw, preserving);
          break;
        case XmlKind::start:
          if (is_kept(token)) {
            add_kept(tokens, i);
            break;
          }
          tokens.push_back({InlineToken::Kind::open, raw, "", std::string(token.name)});
          break;
        case XmlKind::end:
          tokens.push_back({InlineToken::Kind::close, raw, "", std::string(token.name)});
          break;
        case XmlKind::cdata:
          tokens.push_back({InlineToken::Kind::kept, raw, trimmed_cdata(token.raw)});
          break;
        default:
          tokens.push_back({InlineToken::Kind::point, raw});
      }
    }
    content_.add_in_place(at_, build_runs(tokens, xml_rules(keep_, preserving)));
  }

  static std::string trimmed_cdata(std::string_view raw) {
    const std::string content = cdata_content(raw);
    return std::string(trimmed(content));
  }

  void add_kept(std::vector<InlineToken>& tokens, size_t& i) {
    const size_t end = ends_[i];
    const std::string text = xml_text_of(std::span(tokens_).subspan(i, end - i));
    std::string raw;
    for (; i < end; ++i) raw += tokens_[i].raw;
    raw += tokens_[i].raw;
    tokens.push_back({InlineToken::Kind::kept, std::move(raw), std::string(trimmed(text))});
  }

  DocumentContent& content_;
  const KeepOptions keep_;
  std::vector<XmlToken> tokens_;
  std::vector<size_t> ends_;
  std::vector<bool> mixed_;
  size_t at_ = 0;
};

}  // namespace

void append_xml_text(std::vector<InlineToken>& tokens, std::string_view raw, bool preserves_space) {
  std::string text;
  size_t begin = 0, at = 0;
  const auto end_text = [&](size_t next) {
    if (begin < at)
      tokens.push_back({InlineToken::Kind::text, std::string(raw.substr(begin, at - begin)), text});
    text.clear();
    begin = at = next;
  };
  while (at < raw.size()) {
    if (preserves_space && (raw[at] == '\n' || raw[at] == '\r')) {
      const size_t line = at;
      end_text(line + 1);
      tokens.push_back({InlineToken::Kind::border, std::string(raw.substr(line, 1))});
    } else if (raw[at] == '&') {
      const XmlReference reference = read_xml_reference(raw.substr(at));
      if (reference.character) {
        append_utf8(text, *reference.character);
        at += reference.size;
      } else {
        const size_t entity = at;
        end_text(entity + reference.size);
        tokens.push_back(
            {InlineToken::Kind::point, std::string(raw.substr(entity, reference.size))});
      }
    } else {
      text += raw[at++];
    }
  }
  end_text(at);
}

RunRules xml_rules(const KeepOptions& keep, bool preserves_space) {
  RunRules rules;
  rules.placeholders = {.common = keep.placeholders, .numbers = keep.numbers};
  rules.escape = rules.escape_kept = encoded_xml;
  rules.single_spaces = !preserves_space;
  return rules;
}

std::string xml_text_of(std::span<const XmlToken> tokens) {
  std::vector<InlineToken> texts;
  for (const XmlToken& token : tokens)
    if (token.kind == XmlToken::Kind::text) append_xml_text(texts, token.raw, false);
  std::string result;
  for (const InlineToken& text : texts) result += text.text;
  return result;
}

std::vector<size_t> end_tags(const std::vector<XmlToken>& tokens) {
  std::vector<size_t> ends(tokens.size(), 0), open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == XmlToken::Kind::start) open.push_back(i);
    if (tokens[i].kind != XmlToken::Kind::end) continue;
    ends[open.back()] = i;
    open.pop_back();
  }
  return ends;
}

bool preserves_space(const XmlToken& tag, bool around) {
  const auto space = xml_attribute(tag, "xml:space");
  return space ? *space == "preserve" : around;
}

void read_xml(DocumentContent& content, const KeepOptions& keep) {
  XmlReader(content, keep).read();
}

}  // namespace heed::document

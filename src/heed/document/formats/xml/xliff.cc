// XLIFF 1.2 (https://docs.oasis-open.org/xliff/v1.2/os/xliff-core.html) and 2.0
// (https://docs.oasis-open.org/xliff/xliff-core/v2.0/): the source of each unit becomes its target.
#include <algorithm>
#include <array>

#include "heed/base/byte_order_mark.h"
#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/document/content.h"
#include "heed/document/formats/formats.h"
#include "heed/document/formats/xml/xml.h"

namespace heed::document {
namespace {

using XliffKind = XmlToken::Kind;

/// Elements that stand for code of the document that the text comes from. Of pairs, the first names
/// the second's partner.
constexpr std::array<std::string_view, 8> kCodes{"x", "ph", "it", "cp", "bpt", "ept", "bx", "ex"};
constexpr std::array<std::string_view, 4> kMorePaired{"sc", "ec", "sm", "em"};
constexpr std::array<std::string_view, 4> kEnds{"ept", "ex", "ec", "em"};

bool is_xliff_name(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

std::string value_of(const XmlToken& tag, std::string_view name) {
  return std::string(xml_attribute(tag, name).value_or(""));
}

class XliffReader {
 public:
  XliffReader(DocumentContent& content, const KeepOptions& keep) : content_(content), keep_(keep) {}

  void read() {
    const std::string_view xml = without_byte_order_mark(content_.bytes);
    tokens_ = xml_tokens(xml);
    ends_ = end_tags(tokens_);
    bool is_xliff = false;
    for (size_t i = 0; i < tokens_.size(); ++i) {
      const XmlToken& token = tokens_[i];
      if (token.kind == XliffKind::end) open_.pop_back();
      if (token.kind != XliffKind::start) continue;
      const std::string_view name = local_name(token.name);
      if (open_.empty()) is_xliff = name == "xliff";
      const Open around = open_.empty() ? Open{} : open_.back();
      open_.push_back(
          {translates(token, around.translates), preserves_space(token, around.preserves)});
      if (name == "trans-unit" || name == "segment") read_unit(i, ends_[i]);
    }
    require_input(is_xliff, "the root element is no <xliff>");
  }

 private:
  struct Open {
    bool translates = true;
    bool preserves = false;
  };

  static bool translates(const XmlToken& tag, bool around) {
    const auto translate = xml_attribute(tag, "translate");
    return translate ? *translate != "no" : around;
  }

  size_t byte_of(size_t token) const {
    return static_cast<size_t>(tokens_[token].raw.data() - content_.bytes.data());
  }
  size_t end_byte_of(size_t token) const { return byte_of(token) + tokens_[token].raw.size(); }

  /// A child of a unit.
  struct Child {
    size_t first = 0, last = 0;  // its tags, which are one for <target/>
    bool exists = false;
  };

  void read_unit(size_t unit, size_t end) {
    if (!open_.back().translates) return;
    Child source, target, segmented;
    for (size_t i = unit + 1; i < end; ++i) {
      const bool starts = tokens_[i].kind == XliffKind::start;
      if (!starts && tokens_[i].kind != XliffKind::empty) continue;
      const Child child{i, starts ? ends_[i] : i, true};
      const std::string_view name = local_name(tokens_[i].name);
      if (name == "source") source = child;
      if (name == "target") target = child;
      if (name == "seg-source") segmented = child;
      i = child.last;
    }
    if (!source.exists || source.first == source.last) return;
    if (target.exists && target.first < target.last && !is_provisional(unit, target)) return;
    add_target(source, target, segmented);
  }

  /// Whether a target is there only to be replaced: it is empty, or its state says so.
  bool is_provisional(size_t unit, const Child& target) const {
    bool empty = true;
    for (size_t i = target.first + 1; i < target.last; ++i)
      empty &= tokens_[i].kind == XliffKind::text &&
               tokens_[i].raw.find_first_not_of(" \t\r\n") == tokens_[i].raw.npos;
    const std::string state = value_of(tokens_[target.first], "state");
    return empty || state == "new" || state == "needs-translation" ||
           value_of(tokens_[unit], "state") == "initial";
  }

  void add_target(const Child& source, const Child& target, const Child& segmented) {
    const bool preserving = preserves_space(tokens_[source.first], open_.back().preserves);
    const size_t begin = end_byte_of(source.first), end = byte_of(source.last);
    std::vector<InlineToken> tokens;
    for (size_t i = source.first + 1; i < source.last; ++i) add_token(tokens, i, preserving);
    Slot slot;
    std::string rest;
    slot.parts = content_.add_parts(std::string_view(content_.bytes).substr(begin, end - begin),
                                    build_runs(tokens, xml_rules(keep_, preserving)), rest);
    const std::string_view source_name = tokens_[source.first].name;
    const std::string name = std::string(source_name.substr(0, source_name.size() - 6)) + "target";
    std::string open = '<' + name + '>', close = "</" + name + '>';
    if (target.exists && target.first < target.last) {
      slot.replaced = {end_byte_of(target.first), byte_of(target.last)};
      open.clear();
      close.clear();
    } else if (target.exists) {
      slot.replaced = {byte_of(target.first), end_byte_of(target.first)};
      const std::string_view raw = tokens_[target.first].raw;
      open = std::string(raw.substr(0, raw.size() - 2)) + '>';
    } else {
      const size_t at = end_byte_of(segmented.exists ? segmented.last : source.last);
      slot.replaced = {at, at};
      open = white_space_before(source.first) + open;
    }
    slot.encode = [open, close](std::string text) { return open + text + close; };
    slot.literal = std::move(rest);
    content_.slots.push_back(std::move(slot));
  }

  std::string white_space_before(size_t token) const {
    const XmlToken& before = tokens_[token - 1];
    return before.kind == XliffKind::text ? std::string(before.raw) : "";
  }

  void add_token(std::vector<InlineToken>& tokens, size_t& i, bool preserving) const {
    const XmlToken& token = tokens_[i];
    const std::string_view name = local_name(token.name);
    const size_t last = token.kind == XliffKind::start ? ends_[i] : i;
    const size_t begin = byte_of(i);
    const std::string whole = content_.bytes.substr(begin, end_byte_of(last) - begin);
    if (token.kind == XliffKind::text) {
      append_xml_text(tokens, token.raw, preserving);
    } else if (token.kind == XliffKind::end) {
      tokens.push_back({InlineToken::Kind::close, whole, "", std::string(token.name)});
    } else if (is_xliff_name(name, kCodes) || is_xliff_name(name, kMorePaired)) {
      tokens.push_back({kind_of(name), whole, "", partner_of(token, name)});
      i = last;
    } else if (token.kind == XliffKind::start && is_protected(token)) {
      const std::string text = xml_text_of(std::span(tokens_).subspan(i, last - i));
      tokens.push_back({InlineToken::Kind::kept, whole, text});
      i = last;
    } else if (token.kind == XliffKind::start) {
      tokens.push_back(
          {InlineToken::Kind::open, std::string(token.raw), "", std::string(token.name)});
    } else {
      tokens.push_back({InlineToken::Kind::point, whole});
    }
  }

  static bool is_protected(const XmlToken& tag) {
    return xml_attribute(tag, "translate") == "no" || xml_attribute(tag, "mtype") == "protected";
  }

  static InlineToken::Kind kind_of(std::string_view name) {
    if (is_xliff_name(name, kEnds)) return InlineToken::Kind::close;
    const bool begins = name == "bpt" || name == "bx" || name == "sc" || name == "sm";
    return begins ? InlineToken::Kind::open : InlineToken::Kind::point;
  }

  /// The two of a pair have one name.
  static std::string partner_of(const XmlToken& tag, std::string_view name) {
    if (name == "ec" || name == "em") return "start " + value_of(tag, "startRef");
    if (name == "sc" || name == "sm") return "start " + value_of(tag, "id");
    const std::string rid = value_of(tag, "rid");
    return "rid " + (rid.empty() ? value_of(tag, "id") : rid);
  }

  DocumentContent& content_;
  const KeepOptions keep_;
  std::vector<XmlToken> tokens_;
  std::vector<size_t> ends_;
  std::vector<Open> open_;
};

}  // namespace

void read_xliff(DocumentContent& content, const KeepOptions& keep) {
  XliffReader(content, keep).read();
}

}  // namespace heed::document

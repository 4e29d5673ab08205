#include "heed/document/formats/xml/tokens.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/utf8.h"

namespace heed::document {
namespace {

constexpr size_t kLongestReference = 64;

bool is_xml_space(char c) { return kWhiteSpace.find(c) != kWhiteSpace.npos; }

bool begins_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == ':' ||
         static_cast<uint8_t>(c) >= 0x80;
}

bool is_of_name(char c) { return begins_name(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

bool is_xml_character(char32_t c) {
  return c == 0x9 || c == 0xA || c == 0xD || (c >= 0x20 && c < 0xD800) ||
         (c >= 0xE000 && c < 0xFFFE) || (c >= 0x10000 && c <= 0x10FFFF);
}

class XmlTokenizer {
 public:
  explicit XmlTokenizer(std::string_view xml) : xml_(xml) {}

  std::vector<XmlToken> read() {
    while (at_ < xml_.size()) {
      if (xml_[at_] != '<')
        read_text();
      else if (rest().starts_with("<!--"))
        read_comment();
      else if (rest().starts_with("<![CDATA["))
        read_cdata();
      else if (rest().starts_with("<!DOCTYPE"))
        read_doctype();
      else if (rest().starts_with("<?"))
        read_instruction();
      else if (rest().starts_with("</"))
        read_end();
      else
        read_start();
    }
    if (!open_.empty()) fail_at(xml_.size(), "<{}> is not closed", one_line(open_.back()));
    if (!has_root_) fail_at(xml_.size(), "there is no element");
    return std::move(tokens_);
  }

 private:
  std::string_view rest() const { return xml_.substr(at_); }

  template <typename... Args>
  [[noreturn]] void fail_at(size_t at, fmt::format_string<Args...> text, Args&&... args) const {
    const auto line =
        std::count(xml_.begin(), xml_.begin() + static_cast<std::ptrdiff_t>(at), '\n');
    fail_input("line {}: {}", line + 1, fmt::format(text, std::forward<Args>(args)...));
  }

  void add(XmlToken::Kind kind, size_t size, std::string_view name = {}) {
    tokens_.push_back({kind, xml_.substr(at_, size), name});
    at_ += size;
  }

  size_t end_of(std::string_view end, size_t from, std::string_view what) const {
    const size_t found = xml_.find(end, from);
    if (found == xml_.npos) fail_at(at_, "{} does not end", what);
    return found + end.size();
  }

  void read_text() {
    const size_t end = std::min(xml_.find('<', at_), xml_.size());
    const std::string_view text = xml_.substr(at_, end - at_);
    if (open_.empty() && text.find_first_not_of(kWhiteSpace) != text.npos)
      fail_at(at_ + text.find_first_not_of(kWhiteSpace), "text outside of the root element");
    check_references(at_, end);
    add(XmlToken::Kind::text, end - at_);
  }

  void check_references(size_t begin, size_t end) const {
    for (size_t i = xml_.find('&', begin); i < end; i = xml_.find('&', i + 1)) {
      const XmlReference reference = read_xml_reference(xml_.substr(i, end - i));
      if (reference.size == 0) fail_at(i, "{} is no reference", quoted(xml_.substr(i, 10)));
      if (reference.character && !is_xml_character(*reference.character))
        fail_at(i, "{} is no character", quoted(xml_.substr(i, reference.size)));
    }
  }

  void read_comment() {
    const size_t end = xml_.find("--", at_ + 4);
    if (end == xml_.npos || xml_.substr(end + 2, 1) != ">")
      fail_at(at_, "a comment does not end with -->");
    add(XmlToken::Kind::other, end + 3 - at_);
  }

  void read_cdata() {
    if (open_.empty()) fail_at(at_, "text outside of the root element");
    add(XmlToken::Kind::cdata, end_of("]]>", at_ + 9, "a CDATA section") - at_);
  }

  void read_instruction() {
    const size_t end = end_of("?>", at_ + 2, "an instruction");
    XmlToken declaration{XmlToken::Kind::other, xml_.substr(at_, end - at_)};
    if (declaration.raw.starts_with("<?xml") && declaration.raw.size() > 5 &&
        is_xml_space(declaration.raw[5])) {
      if (at_ > 0) fail_at(at_, "the XML declaration does not begin the document");
      const auto encoding = xml_attribute(declaration, "encoding");
      if (encoding && lower_case(*encoding) != "utf-8")
        fail_at(at_, "the document says that it is {}, expected UTF-8", quoted(*encoding));
    }
    add(XmlToken::Kind::other, end - at_);
  }

  void read_doctype() {
    if (has_root_) fail_at(at_, "a document type behind the root element's start");
    int depth = 0;
    size_t i = at_ + 9;
    for (; i < xml_.size(); ++i) {
      const char c = xml_[i];
      if (c == '"' || c == '\'') {
        i = end_of(std::string_view(&c, 1), i + 1, "a text of the document type") - 1;
      } else if (xml_.substr(i, 4) == "<!--") {
        i = end_of("-->", i + 4, "a comment of the document type") - 1;
      } else if (xml_.substr(i, 2) == "<?") {
        i = end_of("?>", i + 2, "an instruction of the document type") - 1;
      } else if (c == '[') {
        ++depth;
      } else if (c == ']') {
        --depth;
      } else if (c == '>' && depth <= 0) {
        break;
      }
    }
    if (i >= xml_.size()) fail_at(at_, "the document type does not end");
    add(XmlToken::Kind::other, i + 1 - at_);
  }

  size_t read_name(size_t at) const {
    size_t end = at;
    if (end < xml_.size() && begins_name(xml_[end]))
      while (end < xml_.size() && is_of_name(xml_[end])) ++end;
    if (end == at) fail_at(at_, "expected a name, found {}", quoted(xml_.substr(at, 10)));
    return end;
  }

  size_t skip_space(size_t at) const {
    while (at < xml_.size() && is_xml_space(xml_[at])) ++at;
    return at;
  }

  void read_end() {
    const size_t name_end = read_name(at_ + 2), end = skip_space(name_end);
    const std::string_view name = xml_.substr(at_ + 2, name_end - at_ - 2);
    if (xml_.substr(end, 1) != ">") fail_at(at_, "</{} does not end with >", one_line(name));
    if (open_.empty()) fail_at(at_, "</{}> closes nothing", one_line(name));
    if (open_.back() != name)
      fail_at(at_, "<{}> is closed by </{}>", one_line(open_.back()), one_line(name));
    open_.pop_back();
    add(XmlToken::Kind::end, end + 1 - at_, name);
  }

  void read_start() {
    const size_t name_end = read_name(at_ + 1);
    const std::string_view name = xml_.substr(at_ + 1, name_end - at_ - 1);
    if (open_.empty() && has_root_) fail_at(at_, "<{}> is a second root element", one_line(name));
    has_root_ = true;
    size_t i = name_end;
    while (true) {
      const size_t next = skip_space(i);
      if (next >= xml_.size()) fail_at(at_, "<{} does not end", one_line(name));
      if (xml_[next] == '>') {
        open_.push_back(name);
        return add(XmlToken::Kind::start, next + 1 - at_, name);
      }
      if (xml_.substr(next, 2) == "/>") return add(XmlToken::Kind::empty, next + 2 - at_, name);
      if (next == i)
        fail_at(at_, "<{}: expected a space, found {}", one_line(name), quoted(xml_.substr(i, 10)));
      i = read_attribute(next, name);
    }
  }

  size_t read_attribute(size_t at, std::string_view tag) const {
    size_t i = skip_space(read_name(at));
    if (xml_.substr(i, 1) != "=") fail_at(at, "an attribute of <{}> has no value", one_line(tag));
    i = skip_space(i + 1);
    if (i >= xml_.size() || (xml_[i] != '"' && xml_[i] != '\''))
      fail_at(at, "a value of <{}> is not in quotes", one_line(tag));
    const size_t end = xml_.find(xml_[i], i + 1);
    if (end == xml_.npos) fail_at(at, "a value of <{}> does not end", one_line(tag));
    if (xml_.substr(i, end - i).find('<') != xml_.npos)
      fail_at(at, "a value of <{}> has <", one_line(tag));
    check_references(i, end);
    return end + 1;
  }

  const std::string_view xml_;
  size_t at_ = 0;
  bool has_root_ = false;
  std::vector<XmlToken> tokens_;
  std::vector<std::string_view> open_;
};

}  // namespace

std::vector<XmlToken> xml_tokens(std::string_view xml) { return XmlTokenizer(xml).read(); }

std::optional<std::string_view> xml_attribute(const XmlToken& tag, std::string_view name) {
  const std::string_view raw = tag.raw;
  for (size_t at = 0; at < raw.size();) {
    const size_t equals = raw.find('=', at);
    if (equals == raw.npos) return std::nullopt;
    const size_t open = raw.find_first_of("\"'", equals);
    if (open == raw.npos) return std::nullopt;
    const size_t close = raw.find(raw[open], open + 1);
    if (close == raw.npos) return std::nullopt;
    const std::string_view before = trimmed(raw.substr(at, equals - at));
    const size_t begin = before.find_last_of(kWhiteSpace) + 1;  // npos + 1 is 0
    if (before.substr(begin) == name) return raw.substr(open + 1, close - open - 1);
    at = close + 1;
  }
  return std::nullopt;
}

std::string_view local_name(std::string_view name) { return name.substr(name.find(':') + 1); }

XmlReference read_xml_reference(std::string_view xml) {
  struct Named {
    std::string_view name;
    char32_t character;
  };
  static constexpr std::array kNamed{Named{"amp", U'&'}, Named{"lt", U'<'}, Named{"gt", U'>'},
                                     Named{"quot", U'"'}, Named{"apos", U'\''}};
  const size_t end = xml.substr(0, kLongestReference).find(';');
  if (!xml.starts_with('&') || end == xml.npos || end < 2) return {};
  const std::string_view name = xml.substr(1, end - 1);
  if (name.front() == '#') {
    const bool hexadecimal = name.starts_with("#x");
    const std::string_view digits = name.substr(hexadecimal ? 2 : 1);
    uint32_t value = 0;
    const auto [last, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), value, hexadecimal ? 16 : 10);
    if (error == std::errc::result_out_of_range) value = 0;
    if (error == std::errc::invalid_argument || last != digits.data() + digits.size()) return {};
    return {end + 1, static_cast<char32_t>(value)};
  }
  if (!begins_name(name.front()) || !std::ranges::all_of(name, is_of_name)) return {};
  const auto* const known = std::ranges::find(kNamed, name, &Named::name);
  return {end + 1, known == kNamed.end() ? std::nullopt : std::optional(known->character)};
}

std::string encoded_xml(std::string_view text) {
  std::string xml;
  for_each_code_point(text, [&](const CodePoint& c, std::string_view bytes) {
    if (c.value == U'&')
      xml += "&amp;";
    else if (c.value == U'<')
      xml += "&lt;";
    else if (c.value == U'>')
      xml += "&gt;";
    else if (is_xml_character(c.value))
      xml += bytes;
  });
  return xml;
}

}  // namespace heed::document

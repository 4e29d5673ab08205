#include "heed/document/formats/html/tokens.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

#include "heed/base/ascii.h"
#include "heed/base/utf8.h"
#include "heed/text/html_references.h"

namespace heed::document {
namespace {

constexpr std::string_view kHtmlSpace = " \t\n\r\f";
constexpr size_t kLongestLegacyName = 6;

/// Elements whose content is no markup: it reaches to the next end tag of the same name.
constexpr std::array<std::string_view, 8> kRawElements{"script",  "style",    "xmp",      "iframe",
                                                       "noembed", "noframes", "textarea", "title"};

bool is_html_space(char c) { return kHtmlSpace.find(c) != kHtmlSpace.npos; }
bool is_html_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Reads a tag attribute by attribute: what looks like its end may be part of a value.
class HtmlTagReader {
 public:
  /// `html` begins with "<" or "</" and a letter.
  HtmlTagReader(std::string_view html, HtmlToken& tag) : html_(html), tag_(tag) {}

  size_t read() {
    const bool ends = html_[1] == '/';
    tag_.kind = ends ? HtmlToken::Kind::end : HtmlToken::Kind::start;
    at_ = ends ? 2 : 1;
    tag_.name = lower_case(take_until(" \t\n\r\f/>"));
    while (at_ < html_.size()) {
      skip(" \t\n\r\f/");
      if (at_ == html_.size()) break;
      if (html_[at_] == '>') {
        tag_.closes_itself = html_[at_ - 1] == '/';
        ++at_;
        break;
      }
      read_attribute();
    }
    return at_;
  }

 private:
  void read_attribute() {
    const size_t begin = at_++;  // a name may begin with "="
    take_until(" \t\n\r\f/>=");
    const std::string name = lower_case(html_.substr(begin, at_ - begin));
    skip(kHtmlSpace);
    if (at_ == html_.size() || html_[at_] != '=') return;
    ++at_;
    skip(kHtmlSpace);
    const std::string value = lower_case(take_value());
    tag_.no_translate |= name == "translate" && value == "no";
    tag_.no_translate |= name == "class" && (' ' + value + ' ').find(" notranslate ") != value.npos;
    if (tag_.name != "meta") return;
    if (name == "charset") tag_.charset = value;
    const size_t charset = name == "content" ? value.find("charset=") : value.npos;
    if (charset != value.npos)
      tag_.charset = value.substr(charset + 8, value.find_first_of("; \"'", charset) - charset - 8);
  }

  std::string_view take_value() {
    if (at_ == html_.size()) return {};
    const char quote = html_[at_];
    if (quote != '"' && quote != '\'') return take_until(" \t\n\r\f>");
    ++at_;
    const std::string_view value = take_until(std::string_view(&quote, 1));
    if (at_ < html_.size()) ++at_;
    return value;
  }

  std::string_view take_until(std::string_view ends) {
    const size_t begin = at_;
    at_ = std::min(html_.find_first_of(ends, at_), html_.size());
    return html_.substr(begin, at_ - begin);
  }

  void skip(std::string_view characters) {
    at_ = std::min(html_.find_first_not_of(characters, at_), html_.size());
  }

  const std::string_view html_;
  HtmlToken& tag_;
  size_t at_ = 0;
};

/// The bytes of a comment: it may end with "--!>", and "<!-->" is one.
size_t size_of_comment(std::string_view html) {
  if (html.starts_with("<!-->")) return 5;
  if (html.starts_with("<!--->")) return 6;
  for (size_t at = html.find("--", 4); at != html.npos; at = html.find("--", at + 1)) {
    if (html.substr(at + 2, 1) == ">") return at + 3;
    if (html.substr(at + 2, 2) == "!>") return at + 4;
  }
  return html.size();
}

/// Whether `html` begins with "<" or "</", as `prefix` says, and the name of a tag that ends there.
bool begins_named(std::string_view html, std::string_view prefix, std::string_view name) {
  const size_t after = prefix.size() + name.size();
  return html.starts_with(prefix) && after < html.size() &&
         lower_case(html.substr(prefix.size(), name.size())) == name &&
         (is_html_space(html[after]) || html[after] == '/' || html[after] == '>');
}

/// The bytes before the end tag `name`; all, if there is none. Within "<!--" and <script>, a script
/// is not ended by its end tag (script data double escaped state).
size_t size_of_raw_content(std::string_view html, std::string_view name) {
  bool escaped = false, doubly = false;
  for (size_t at = html.find_first_of("<-"); at != html.npos;
       at = html.find_first_of("<-", at + 1)) {
    const std::string_view rest = html.substr(at);
    const bool ends = begins_named(rest, "</", name);
    if (ends && !doubly) return at;
    if (name != "script") continue;
    if (ends) doubly = false;
    if (rest.starts_with("<!--")) escaped = true;
    if (escaped && begins_named(rest, "<", name)) doubly = true;
    // "<!-->" and "<!--->" end what they begin.
    if (rest.starts_with("-->")) escaped = doubly = false;
  }
  return html.size();
}

bool begins_tag(std::string_view html) {
  const size_t at = html.starts_with("</") ? 2 : 1;
  return html.size() > at && is_html_letter(html[at]);
}

bool begins_comment(std::string_view html) {
  return html.starts_with("<!") || html.starts_with("<?") ||
         (html.starts_with("</") && html.size() > 2);
}

/// The bytes of the text before the next markup.
size_t size_of_text(std::string_view html) {
  for (size_t at = html.find('<'); at != html.npos; at = html.find('<', at + 1))
    if (begins_tag(html.substr(at)) || begins_comment(html.substr(at))) return at;
  return html.size();
}

/// "&copy" without ";", as some old names may be.
text::HtmlReference read_legacy_reference(std::string_view html) {
  size_t size = 0;
  while (size < kLongestLegacyName && size + 1 < html.size() && is_html_letter(html[size + 1]))
    ++size;
  for (; size >= 2; --size) {
    const std::string named = std::string(html.substr(0, size + 1)) + ';';
    const std::optional<char32_t> character = text::read_html_reference(named).character;
    if (!character) continue;
    const bool old = (*character >= 0xA0 && *character <= 0xFF) || *character == U'&' ||
                     *character == U'<' || *character == U'>' || *character == U'"';
    if (old) return {size + 1, character};
  }
  return {};
}

text::HtmlReference read_reference(std::string_view html) {
  const text::HtmlReference reference = text::read_html_reference(html);
  return reference.size > 0 ? reference : read_legacy_reference(html);
}

}  // namespace

HtmlToken HtmlTokenizer::take(HtmlToken::Kind kind, size_t size) {
  HtmlToken token{kind, html_.substr(0, size)};
  html_.remove_prefix(token.raw.size());
  return token;
}

bool HtmlTokenizer::next(HtmlToken& token, bool foreign) {
  if (html_.empty()) return false;
  if (!raw_name_.empty()) {
    const bool rest = raw_name_ == "plaintext";
    const size_t size = rest ? html_.size() : size_of_raw_content(html_, raw_name_);
    const bool title = raw_name_ == "title";
    raw_name_.clear();
    if (size > 0) {
      token = take(title ? HtmlToken::Kind::title : HtmlToken::Kind::raw_text, size);
      return true;
    }
  }
  if (const size_t size = size_of_text(html_); size > 0) {
    token = take(HtmlToken::Kind::text, size);
  } else if (begins_tag(html_)) {
    HtmlToken tag;
    const size_t read = HtmlTagReader(html_, tag).read();
    tag.raw = html_.substr(0, read);
    html_.remove_prefix(read);
    const bool raw = std::ranges::find(kRawElements, tag.name) != kRawElements.end();
    if (tag.kind == HtmlToken::Kind::start && !foreign && (raw || tag.name == "plaintext"))
      raw_name_ = tag.name;
    token = std::move(tag);
  } else if (html_.starts_with("<!--")) {
    token = take(HtmlToken::Kind::comment, size_of_comment(html_));
  } else {
    const bool cdata = foreign && html_.starts_with("<![CDATA[");
    const std::string_view end = cdata ? "]]>" : ">";
    const size_t at = html_.find(end, 2);
    token = take(HtmlToken::Kind::other, at == html_.npos ? html_.size() : at + end.size());
  }
  return true;
}

std::string decoded_html(std::string_view html) {
  std::string text;
  while (!html.empty()) {
    const size_t end = std::min(html.find('&'), html.size());
    text += html.substr(0, end);
    html.remove_prefix(end);
    if (html.empty()) break;
    const text::HtmlReference reference = read_reference(html);
    if (reference.character)
      append_utf8(text, *reference.character);
    else
      text += '&';
    html.remove_prefix(reference.character ? reference.size : 1);
  }
  return text;
}

UnknownReference find_unknown_reference(std::string_view html) {
  for (size_t at = html.find('&'); at != html.npos; at = html.find('&', at + 1)) {
    const text::HtmlReference reference = read_reference(html.substr(at));
    if (reference.size > 0 && !reference.character) return {at, reference.size};
  }
  return {html.size(), 0};
}

std::string encoded_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '&')
      html += "&amp;";
    else if (c == '<')
      html += "&lt;";
    else if (c == '>')
      html += "&gt;";
    else
      html += c;
  }
  return html;
}

}  // namespace heed::document

#include "heed/text/html_text.h"

#include <algorithm>
#include <array>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/text/html_references.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

constexpr std::string_view kHtmlSpace = " \t\n\r\f";

bool is_html_space(char c) { return kHtmlSpace.find(c) != kHtmlSpace.npos; }

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Elements whose content is no markup: it reaches to the next end tag of the same name.
constexpr std::array<std::string_view, 7> kRawElements{"script",  "style",    "xmp",     "iframe",
                                                       "noembed", "noframes", "textarea"};
/// Elements that hold no prose.
constexpr std::array<std::string_view, 9> kOtherElements{"code", "kbd",    "samp",  "var",   "svg",
                                                         "math", "canvas", "audio", "object"};
constexpr std::array<std::string_view, 13> kEmptyElements{
    "area",  "base", "br",   "col",    "embed", "hr", "img",
    "input", "link", "meta", "source", "track", "wbr"};

bool is_one_of(std::string_view name, std::span<const std::string_view> names) {
  return std::ranges::find(names, name) != names.end();
}

/// A start tag or an end tag.
struct HtmlTag {
  std::string name;  // in lower case
  bool ends = false;
  bool stays = false;  // its element must not be translated
  size_t size = 0;     // in bytes
};

/// Reads tags attribute by attribute: what looks like the end of a tag may be part of a value.
class TagReader {
 public:
  /// `html` begins with "<" or "</" and a letter.
  explicit TagReader(std::string_view html) : html_(html) {}

  HtmlTag read() {
    HtmlTag tag;
    tag.ends = html_[1] == '/';
    at_ = tag.ends ? 2 : 1;
    tag.name = lower_case(take_until(" \t\n\r\f/>"));
    while (at_ < html_.size()) {
      skip(" \t\n\r\f/");
      if (at_ == html_.size()) break;
      if (html_[at_] == '>') {
        ++at_;
        break;
      }
      read_attribute(tag);
    }
    tag.size = at_;
    return tag;
  }

 private:
  void read_attribute(HtmlTag& tag) {
    const size_t begin = at_++;  // a name may begin with "="
    take_until(" \t\n\r\f/>=");
    const std::string name = lower_case(html_.substr(begin, at_ - begin));
    skip(kHtmlSpace);
    if (at_ == html_.size() || html_[at_] != '=') return;
    ++at_;
    skip(kHtmlSpace);
    const std::string value = lower_case(take_value());
    tag.stays |= name == "translate" && value == "no";
    tag.stays |= name == "class" && (' ' + value + ' ').find(" notranslate ") != value.npos;
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
  size_t at_ = 0;
};

/// The bytes of a comment, a document type or an instruction.
size_t size_of_comment(std::string_view html) {
  const bool comment = html.starts_with("<!--");
  const std::string_view end = comment ? "-->" : ">";
  const size_t at = html.find(end, 2);
  return at == html.npos ? html.size() : at + end.size();
}

/// The bytes before the end tag `name`; all, if there is none.
size_t size_of_raw_content(std::string_view html, std::string_view name) {
  for (size_t at = html.find("</"); at != html.npos; at = html.find("</", at + 2)) {
    const size_t after = at + 2 + name.size();
    if (after < html.size() && lower_case(html.substr(at + 2, name.size())) == name &&
        (is_html_space(html[after]) || html[after] == '/' || html[after] == '>'))
      return at;
  }
  return html.size();
}

bool begins_tag(std::string_view html) {
  const size_t at = html.starts_with("</") ? 2 : 1;
  return html.size() > at && is_ascii_letter(html[at]);
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

/// Which elements are open, as far as it matters.
class OpenElements {
 public:
  void add(const HtmlTag& tag) {
    if (tag.name == "pre") preformatted_ = !tag.ends;
    if (!kept_.empty()) {
      if (tag.name == kept_) depth_ += tag.ends ? -1 : 1;
      if (depth_ == 0) kept_.clear();
      return;
    }
    if (tag.ends || is_one_of(tag.name, kEmptyElements)) return;
    if (!tag.stays && !is_one_of(tag.name, kOtherElements)) return;
    kept_ = tag.name;
    depth_ = 1;
  }
  bool keeps_text() const { return !kept_.empty(); }
  bool preformatted() const { return preformatted_; }

 private:
  std::string kept_;   // the outermost element that must not be translated
  int64_t depth_ = 0;  // of elements of that name within each other
  bool preformatted_ = false;
};

std::string decoded(std::string_view html) {
  std::string text;
  while (!html.empty()) {
    const size_t end = std::min(html.find('&'), html.size());
    text += html.substr(0, end);
    html.remove_prefix(end);
    if (html.empty()) break;
    const HtmlReference reference = read_html_reference(html);
    if (reference.character)
      append_utf8(text, *reference.character);
    else
      text += '&';
    html.remove_prefix(reference.character ? reference.size : 1);
  }
  return text;
}

std::string encoded(std::string_view text) {
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

std::string with_single_spaces(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool space = is_html_space(c);
    if (!space)
      result += c;
    else if (!result.ends_with(' '))
      result += ' ';
  }
  return result;
}

bool has_letter(std::string_view text) {
  bool found = false;
  for_each_code_point(text, [&](const CodePoint& c, std::string_view /*bytes*/) {
    found |= is_word(c.value) && !is_numeric(c.value) && c.value != U'_';
  });
  return found;
}

}  // namespace

HtmlText::HtmlText(std::string_view html) : markup_(1) {
  OpenElements open;
  while (!html.empty()) {
    size_t size = size_of_text(html);
    if (size > 0) {
      if (open.keeps_text())
        markup_.back() += html.substr(0, size);
      else
        read_texts(html.substr(0, size), open.preformatted());
    } else if (begins_tag(html)) {
      const HtmlTag tag = TagReader(html).read();
      open.add(tag);
      size = tag.size;
      if (!tag.ends && is_one_of(tag.name, kRawElements))
        size += size_of_raw_content(html.substr(size), tag.name);
      markup_.back() += html.substr(0, size);
    } else {
      size = size_of_comment(html);
      markup_.back() += html.substr(0, size);
    }
    html.remove_prefix(size);
  }
}

/// Texts between references that are not known, which stay as they are.
void HtmlText::read_texts(std::string_view html, bool preformatted) {
  size_t begin = 0;
  for (size_t at = html.find('&'); at != html.npos; at = html.find('&', at + 1)) {
    const HtmlReference reference = read_html_reference(html.substr(at));
    if (reference.size == 0 || reference.character) continue;
    read_text(html.substr(begin, at - begin), preformatted);
    markup_.back() += html.substr(at, reference.size);
    begin = at + reference.size;
  }
  read_text(html.substr(begin), preformatted);
}

void HtmlText::read_text(std::string_view html, bool preformatted) {
  const size_t begin = std::min(html.find_first_not_of(kHtmlSpace), html.size());
  const size_t end = std::max(begin, html.find_last_not_of(kHtmlSpace) + 1);  // npos + 1 is 0
  std::string text = decoded(html.substr(begin, end - begin));
  if (!has_letter(text)) {
    markup_.back() += html;
    return;
  }
  markup_.back() += html.substr(0, begin);
  texts_.push_back(preformatted ? std::move(text) : with_single_spaces(text));
  markup_.emplace_back(html.substr(end));
}

std::string HtmlText::with(std::span<const std::string> replaced) const {
  require(replaced.size() == texts_.size(), "HTML with {} texts is given {}", texts_.size(),
          replaced.size());
  std::string html = markup_.front();
  for (size_t i = 0; i < replaced.size(); ++i) html += encoded(replaced[i]) + markup_[i + 1];
  return html;
}

}  // namespace heed::text

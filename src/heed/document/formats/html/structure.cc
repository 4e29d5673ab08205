#include "heed/document/formats/html/structure.h"

#include <algorithm>
#include <array>

#include "heed/base/ascii.h"

namespace heed::document {
namespace {

using Names = std::span<const std::string_view>;
using View = std::string_view;

// Deeper documents are not followed.
constexpr size_t kMaxFollowedDepth = 200;
constexpr size_t kNotOpen = std::string::npos;

constexpr std::array<View, 13> kFormatting{"a",    "b", "big",   "code",   "em",     "font", "i",
                                           "nobr", "s", "small", "strike", "strong", "tt"};
constexpr std::array<View, 6> kHeadings{"h1", "h2", "h3", "h4", "h5", "h6"};
/// Start tags that end a paragraph; their end tags end what is open within them.
constexpr std::array<View, 28> kBlocks{
    "address", "article", "aside",    "blockquote", "center", "details", "dir",
    "div",     "dl",      "fieldset", "figcaption", "figure", "footer",  "header",
    "hgroup",  "listing", "main",     "nav",        "ol",     "pre",     "section",
    "summary", "ul",      "menu",     "dialog",     "h1",     "h2",      "h3"};
constexpr std::array<View, 3> kMoreHeadings{"h4", "h5", "h6"};
constexpr std::array<View, 26> kWithoutContent{
    "area",   "base",  "basefont", "bgsound", "br",       "col",      "embed",  "frame", "hr",
    "image",  "img",   "input",    "link",    "meta",     "param",    "source", "track", "wbr",
    "script", "style", "iframe",   "noembed", "noframes", "textarea", "title",  "xmp"};
constexpr std::array<View, 9> kTableParts{"caption", "col", "colgroup", "tbody", "td",
                                          "tfoot",   "th",  "thead",    "tr"};
constexpr std::array<View, 3> kCells{"td", "th", "caption"};
constexpr std::array<View, 8> kRegions{"svg",    "math",   "select",  "noscript",
                                       "object", "applet", "marquee", "template"};
/// Which parsers treat differently, or which need more than is followed here.
constexpr std::array<View, 9> kUncertain{"frameset", "search", "menuitem",  "command", "keygen",
                                         "isindex",  "rtc",    "plaintext", "nobr"};
constexpr std::array<View, 3> kUncertainInParagraph{"menu", "dialog", "hgroup"};
constexpr std::array<View, 10> kImplied{"dd", "dt", "li", "optgroup", "option",
                                        "p",  "rb", "rp", "rt",       "rtc"};
constexpr std::array<View, 3> kRubyParts{"rb", "rp", "rt"};

constexpr std::array<View, 4> kScope{"table", "td", "th", "caption"};
constexpr std::array<View, 5> kButtonScope{"table", "td", "th", "caption", "button"};
constexpr std::array<View, 6> kListScope{"table", "td", "th", "caption", "ol", "ul"};
constexpr std::array<View, 0> kNoBorders{};

/// Elements that end the search for the start of another.
constexpr std::array<View, 37> kSpecial{
    "address", "article", "aside",  "blockquote", "button",  "caption",  "center",     "dd",
    "details", "dir",     "div",    "dl",         "dt",      "fieldset", "figcaption", "figure",
    "footer",  "form",    "header", "hgroup",     "li",      "listing",  "main",       "menu",
    "nav",     "ol",      "p",      "pre",        "section", "summary",  "table",      "td",
    "th",      "ul",      "h1",     "h2",         "h3"};

/// Tags that end <svg> and <math>.
constexpr std::array<View, 45> kBreakout{
    "b",      "big",  "blockquote", "body",  "br",   "center", "code",    "dd",   "div",
    "dl",     "dt",   "em",         "embed", "h1",   "h2",     "h3",      "h4",   "h5",
    "h6",     "head", "hr",         "i",     "img",  "li",     "listing", "menu", "meta",
    "nobr",   "ol",   "p",          "pre",   "ruby", "s",      "small",   "span", "strong",
    "strike", "sub",  "sup",        "table", "tt",   "u",      "ul",      "var",  "font"};

bool is_one_of(View name, Names names) { return std::ranges::find(names, name) != names.end(); }

bool is_formatting(View name) { return is_one_of(name, kFormatting) || name == "u"; }

bool is_block(View name) { return is_one_of(name, kBlocks) || is_one_of(name, kMoreHeadings); }

bool is_special(View name) { return is_one_of(name, kSpecial) || is_one_of(name, kMoreHeadings); }

}  // namespace

bool HtmlStructure::is_certain() const { return certain_ && region_.empty() && !top_is("table"); }

void HtmlStructure::read(const HtmlToken& token) {
  if (!certain_) {
    // Which tokens follow depends on it still.
    if (!region_.empty())
      read_in_region(token);
    else if (token.kind == HtmlToken::Kind::start && (token.name == "svg" || token.name == "math"))
      start_region(token);
    return;
  }
  if (!region_.empty())
    read_in_region(token);
  else if (token.kind == HtmlToken::Kind::start)
    start(token);
  else if (token.kind == HtmlToken::Kind::end)
    end(token.name);
  else if (token.kind == HtmlToken::Kind::other)
    standards_mode_ |= lower_case(token.raw) == "<!doctype html>";
  certain_ &= open_.size() <= kMaxFollowedDepth;
}

void HtmlStructure::start_region(const HtmlToken& token) {
  const bool foreign = token.name == "svg" || token.name == "math";
  if (foreign && token.closes_itself) return;
  region_ = token.name;
  region_depth_ = 1;
  open_in_region_.clear();
}

void HtmlStructure::read_in_region(const HtmlToken& token) {
  const bool starts = token.kind == HtmlToken::Kind::start;
  if (!starts && token.kind != HtmlToken::Kind::end) return;
  const std::string& name = token.name;
  const bool part = is_one_of(name, kTableParts) || name == "table";
  if (name == region_) {
    if (region_ == "select" || region_ == "noscript") certain_ &= !starts;
    if (!is_foreign() || !starts || !token.closes_itself) region_depth_ += starts ? 1 : -1;
    if (region_depth_ > 0) return;
    certain_ &= open_in_region_.empty();
    region_.clear();
    return;
  }
  if (region_ == "template") return;
  if (is_foreign()) {
    certain_ &= !is_one_of(name, kBreakout) && (starts || !has_open(name));
  } else if (region_ == "select") {
    certain_ &= name == "option" || name == "optgroup" || name == "hr" || name == "script";
  } else if (region_ == "noscript") {
    // Browsers take its content as text, others as elements: these must be closed.
    certain_ &= !part && name != "form" && !(starts && is_block(name) && has_open("p"));
    if (is_one_of(name, kWithoutContent)) return;
    if (starts)
      open_in_region_.push_back(name);
    else if (!open_in_region_.empty() && open_in_region_.back() == name)
      open_in_region_.pop_back();
    else
      certain_ = false;
    certain_ &= open_in_region_.size() <= kMaxFollowedDepth;
  } else {
    certain_ &= !part;
  }
}

void HtmlStructure::start(const HtmlToken& token) {
  const std::string& name = token.name;
  if (is_one_of(name, kTableParts)) return start_table_part(name);
  if (top_is("table")) {
    certain_ &= name == "script" || name == "style" || name == "template" || name == "input";
    if (name == "template") start_region(token);
    return;
  }
  if (is_one_of(name, kUncertain)) {
    certain_ = false;
  } else if (is_one_of(name, kRegions)) {
    start_region(token);
  } else if (is_one_of(name, kWithoutContent)) {
    if (name == "hr" || name == "xmp") close_p();
  } else if (name == "html" || name == "head" || name == "body") {
    return;
  } else if (is_formatting(name)) {
    if (name == "a") certain_ &= find_open("a", kScope) == kNotOpen;
    push(name);
  } else if (name == "li" || name == "dd" || name == "dt") {
    start_item(name);
  } else if (name == "p" || is_block(name)) {
    if (is_one_of(name, kUncertainInParagraph))
      certain_ &= find_open("p", kButtonScope) == kNotOpen;
    close_p();
    if (is_one_of(name, kHeadings) && !open_.empty() && is_one_of(open_.back().name, kHeadings))
      pop();
    push(name);
  } else if (name == "form") {
    if (has_form_) return;
    close_p();
    push(name);
    has_form_ = true;
  } else if (name == "table") {
    certain_ &= standards_mode_ || find_open("p", kButtonScope) == kNotOpen;
    close_p();
    push(name);
  } else if (is_one_of(name, kRubyParts)) {
    if (!open_.empty() && is_one_of(open_.back().name, kRubyParts)) pop();
    certain_ &= top_is("ruby");
    push(name);
  } else {
    if (name == "button") certain_ &= find_open("button", kScope) == kNotOpen;
    if ((name == "option" || name == "optgroup") && top_is("option")) pop();
    push(name);
  }
}

/// <li>, <dd> and <dt> end the one before.
void HtmlStructure::start_item(std::string_view name) {
  for (size_t i = open_.size(); i-- > 0;) {
    const std::string& other = open_[i].name;
    const bool same = name == "li" ? other == "li" : other == "dd" || other == "dt";
    if (same) close_from(i);
    if (same || (is_special(other) && other != "address" && other != "div" && other != "p")) break;
  }
  close_p();
  push(name);
}

void HtmlStructure::start_table_part(const std::string& name) {
  const size_t table = find_open("table", kNoBorders);
  if (table == kNotOpen) return;
  close_from_cell(table + 1);
  if (name == "tbody" || name == "thead" || name == "tfoot") open_[table].section = name;
  if (is_one_of(name, kCells)) push(name);
}

void HtmlStructure::end(const std::string& name) {
  if (name == "table" || is_one_of(name, kTableParts)) return end_table_part(name);
  if (name == "form") return end_form();
  if (!has_open(name) && !is_one_of(name, kHeadings)) return;
  if (is_formatting(name)) {
    if (top_is(name))
      pop();
    else
      certain_ = false;
  } else if (name == "p" || name == "li" || name == "dd" || name == "dt" || name == "button" ||
             is_block(name)) {
    end_of_tag_that_closes_p(name);
  } else {
    end_other(name);
  }
}

void HtmlStructure::end_of_tag_that_closes_p(const std::string& name) {
  const Names borders = name == "p"    ? Names(kButtonScope)
                        : name == "li" ? Names(kListScope)
                                       : Names(kScope);
  const std::array<View, 1> itself{name};
  const Names names = is_one_of(name, kHeadings) ? Names(kHeadings) : Names(itself);
  if (const size_t place = find_open(names, borders); place != kNotOpen) close_from(place);
}

void HtmlStructure::end_table_part(const std::string& name) {
  const size_t table = find_open("table", kNoBorders);
  if (table == kNotOpen) return;
  if (name == "table") {
    close_from_cell(table);
    return;
  }
  const std::string cell = table + 1 < open_.size() ? open_[table + 1].name : "";
  if (is_one_of(name, kCells)) {
    if (cell == name) close_from_cell(table + 1);
    return;
  }
  if (cell == "caption" || name == "col" || name == "colgroup") return;
  std::string& section = open_[table].section;
  if (name == "tr") {
    close_from_cell(table + 1);
  } else if (name == section || (section.empty() && name == "tbody")) {
    close_from_cell(table + 1);
    section.clear();
  }
}

void HtmlStructure::end_form() {
  if (!has_form_) return;
  has_form_ = false;
  const size_t place = find_open("form", kScope);
  if (place == kNotOpen) return;
  while (!open_.empty() && is_one_of(open_.back().name, kImplied)) pop();
  // What is open within it stays open.
  if (place >= open_.size()) return;
  --open_count_["form"];
  open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(place));
}

void HtmlStructure::end_other(const std::string& name) {
  for (size_t i = open_.size(); i-- > 0;) {
    if (open_[i].name == name) return close_from(i);
    if (is_special(open_[i].name)) return;
  }
}

void HtmlStructure::push(std::string_view name) {
  open_.push_back({std::string(name)});
  ++open_count_[open_.back().name];
}

void HtmlStructure::pop() {
  --open_count_[open_.back().name];
  open_.pop_back();
}

bool HtmlStructure::has_open(const std::string& name) const {
  const auto found = open_count_.find(name);
  return found != open_count_.end() && found->second > 0;
}

size_t HtmlStructure::find_open(Names names, Names borders) const {
  for (size_t i = open_.size(); i-- > 0;) {
    if (is_one_of(open_[i].name, names)) return i;
    if (is_one_of(open_[i].name, borders)) break;
  }
  return kNotOpen;
}

size_t HtmlStructure::find_open(std::string_view name, Names borders) const {
  const std::array<View, 1> names{name};
  return has_open(std::string(name)) ? find_open(names, borders) : kNotOpen;
}

void HtmlStructure::close_from(size_t place) {
  while (open_.size() > place) {
    certain_ &= !is_formatting(open_.back().name);
    pop();
  }
}

/// A cell ends the formatting elements within it.
void HtmlStructure::close_from_cell(size_t place) {
  while (open_.size() > place) pop();
}

void HtmlStructure::close_p() {
  if (const size_t place = find_open("p", kButtonScope); place != kNotOpen) close_from(place);
}

}  // namespace heed::document

#include "heed/document/formats/markdown/inlines.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "heed/base/ascii.h"
#include "heed/base/utf8.h"
#include "heed/document/formats/html/tokens.h"
#include "heed/document/formats/markdown/scan.h"
#include "heed/text/unicode/properties.h"

namespace heed::document {
namespace {

using MarkdownKind = InlineToken::Kind;

constexpr size_t kNowhere = std::string::npos;

/// HTML within a line; other tags might begin a block in another place.
constexpr std::array<std::string_view, 30> kInlineHtml{
    "a",    "abbr",   "b",      "bdi", "bdo",   "big",  "cite", "del", "dfn",  "em",
    "font", "i",      "ins",    "kbd", "label", "mark", "q",    "s",   "samp", "small",
    "span", "strike", "strong", "sub", "sup",   "time", "tt",   "u",   "var",  "code"};

/// A run of * or _ or ~.
struct Delimiters {
  size_t piece = 0;
  char mark = '*';
  size_t count = 0, original = 0;
  bool can_open = false, can_close = false, active = true;
  std::vector<InlineToken> closes, opens;  // in the order of their matching
};

struct Bracket {
  size_t piece = 0, after = 0;  // `after`: the byte behind "["
  bool image = false, active = true;
  size_t delimiters = 0;  // how many there were before it
};

class InlineParser {
 public:
  InlineParser(std::string_view text, const LinkLabels& labels) : text_(text), labels_(labels) {}

  std::vector<InlineToken> read() {
    while (at_ < text_.size()) read_one();
    end_text();
    match_delimiters(0);
    std::vector<InlineToken> tokens;
    size_t next = 0;
    std::ranges::sort(matched_, {}, &Delimiters::piece);
    for (size_t i = 0; i < pieces_.size(); ++i) {
      if (next < matched_.size() && matched_[next].piece == i)
        add_delimiters(tokens, matched_[next++]);
      else
        tokens.push_back(std::move(pieces_[i]));
    }
    return tokens;
  }

 private:
  char get(size_t at) const { return at < text_.size() ? text_[at] : '\0'; }

  void end_text() {
    if (!raw_.empty()) pieces_.push_back({MarkdownKind::text, raw_, decoded_});
    raw_.clear();
    decoded_.clear();
  }

  void add_text(size_t size, std::string_view decoded) {
    raw_ += text_.substr(at_, size);
    decoded_ += decoded;
    at_ += size;
  }

  void add(MarkdownKind kind, size_t size, std::string text = "", std::string name = "") {
    end_text();
    pieces_.push_back(
        {kind, std::string(text_.substr(at_, size)), std::move(text), std::move(name)});
    at_ += size;
  }

  void read_one() {
    const char c = text_[at_];
    if (c == '\\')
      read_backslash();
    else if (c == '\n')
      read_line_break();
    else if (c == '`')
      read_code();
    else if (c == '<')
      read_angle();
    else if (c == '&')
      read_entity();
    else if (c == '*' || c == '_' || (c == '~' && get(at_ + 1) == '~'))
      read_delimiters();
    else if (c == '[' || (c == '!' && get(at_ + 1) == '['))
      open_bracket();
    else if (c == ']')
      close_bracket();
    else
      add_text(1, text_.substr(at_, 1));
  }

  void read_backslash() {
    if (get(at_ + 1) == '\n')
      add(MarkdownKind::border, 2);
    else if (at_ + 1 < text_.size() && is_markdown_punctuation(text_[at_ + 1]))
      add_text(2, text_.substr(at_ + 1, 1));
    else
      add_text(1, "\\");
  }

  /// Two spaces before it make it a hard one.
  void read_line_break() {
    if (raw_.ends_with("  ")) {
      end_text();
      pieces_.push_back({MarkdownKind::border, "\n"});
      ++at_;
    } else {
      add_text(1, " ");
    }
  }

  void read_code() {
    size_t count = 0;
    while (get(at_ + count) == '`') ++count;
    if (runs_.empty()) find_backticks();
    const std::vector<size_t>& places = runs_[count];
    const auto end = std::ranges::upper_bound(places, at_);
    if (end == places.end()) return add_text(count, text_.substr(at_, count));
    const std::string code(trimmed(text_.substr(at_ + count, *end - at_ - count)));
    add(MarkdownKind::kept, *end + count - at_, code);
  }

  void find_backticks() {
    for (size_t i = 0; i < text_.size();) {
      size_t count = 0;
      while (get(i + count) == '`') ++count;
      if (count > 0) runs_[count].push_back(i);
      i += std::max(count, size_t{1});
    }
  }

  void read_angle() {
    const std::string_view rest = text_.substr(at_, kLongestMarkdownPart);
    const size_t end = rest.find('>');
    if (end == rest.npos) return add_text(1, "<");
    const std::string_view inside = rest.substr(1, end - 1);
    if (is_autolink(inside)) return add(MarkdownKind::kept, end + 1, std::string(inside));
    const size_t size = size_of_inline_html(rest);
    if (size == 0) return add_text(1, "<");
    HtmlToken tag;
    HtmlTokenizer(rest.substr(0, size)).next(tag, false);
    const bool is_tag = tag.kind == HtmlToken::Kind::start || tag.kind == HtmlToken::Kind::end;
    const bool known = is_tag && !tag.closes_itself &&
                       std::ranges::find(kInlineHtml, tag.name) != kInlineHtml.end();
    if (is_tag && tag.name == "img") return add(MarkdownKind::point, size);
    if (!known) return add(MarkdownKind::border, size);
    add(tag.kind == HtmlToken::Kind::start ? MarkdownKind::open : MarkdownKind::close, size, "",
        '<' + tag.name);
  }

  void read_entity() {
    const std::string_view rest = text_.substr(at_, 40);
    const size_t end = rest.find(';');
    const bool reference =
        end != rest.npos && end > 1 && std::ranges::all_of(rest.substr(1, end - 1), [](char c) {
          return std::isalnum(static_cast<unsigned char>(c)) || c == '#';
        });
    if (!reference) return add_text(1, "&");
    const std::string_view whole = rest.substr(0, end + 1);
    if (find_unknown_reference(whole).size > 0) return add(MarkdownKind::point, whole.size());
    add_text(whole.size(), decoded_html(whole));
  }

  void read_delimiters() {
    const char mark = text_[at_];
    size_t count = 0;
    while (get(at_ + count) == mark) ++count;
    if (mark == '~' && count != 2) return add_text(count, text_.substr(at_, count));
    const auto side = [&](bool before) {
      const size_t end = at_ + count;
      if (before ? at_ == 0 : end >= text_.size()) return std::pair(true, false);
      const CodePoint c = code_point_at(text_, before ? code_point_begin(text_, at_ - 1) : end);
      const bool ascii = c.value < 0x80;
      return std::pair(text::is_white_space(c.value),
                       ascii ? is_markdown_punctuation(static_cast<char>(c.value))
                             : text::is_punctuation(c.value));
    };
    const auto [space_before, punctuation_before] = side(true);
    const auto [space_after, punctuation_after] = side(false);
    const bool left = !space_after && (!punctuation_after || space_before || punctuation_before);
    const bool right = !space_before && (!punctuation_before || space_after || punctuation_after);
    Delimiters run;
    run.mark = mark;
    run.count = run.original = count;
    run.can_open = left && (mark != '_' || !right || punctuation_before);
    run.can_close = right && (mark != '_' || !left || punctuation_after);
    add(MarkdownKind::text, count, std::string(text_.substr(at_, count)));
    run.piece = pieces_.size() - 1;
    delimiters_.push_back(std::move(run));
  }

  /// CommonMark's algorithm "process emphasis", for the delimiters from `bottom` on.
  void match_delimiters(size_t bottom) {
    std::map<std::array<size_t, 3>, size_t> bottoms;
    std::vector<size_t> before(delimiters_.size());  // the nearest that is active
    for (size_t i = bottom; i < delimiters_.size(); ++i) before[i] = i == bottom ? kNowhere : i - 1;
    for (size_t c = bottom; c < delimiters_.size();) {
      Delimiters& closer = delimiters_[c];
      if (!closer.can_close || closer.count == 0) {
        ++c;
        continue;
      }
      const std::array<size_t, 3> key{static_cast<size_t>(closer.mark),
                                      closer.can_open ? size_t{1} : 0, closer.original % 3};
      const auto limit = bottoms.find(key);
      size_t o = before[c];
      while (o != kNowhere && (limit == bottoms.end() || o >= limit->second) &&
             !matches(delimiters_[o], closer))
        o = before[o];
      if (o == kNowhere || (limit != bottoms.end() && o < limit->second)) {
        bottoms[key] = c;
        ++c;
        continue;
      }
      Delimiters& opener = delimiters_[o];
      const size_t used = opener.count >= 2 && closer.count >= 2 ? 2 : 1;
      const std::string tag(used, opener.mark);
      const std::string name = opener.mark == '~' ? "del" : used == 2 ? "strong" : "em";
      opener.opens.push_back({MarkdownKind::open, tag, "", name});
      closer.closes.push_back({MarkdownKind::close, tag, "", name});
      opener.count -= used;
      closer.count -= used;
      before[c] = opener.count > 0 ? o : before[o];
      if (closer.count == 0) {
        if (c + 1 < delimiters_.size()) before[c + 1] = before[c];
        ++c;
      }
    }
    std::ranges::move(delimiters_.begin() + static_cast<std::ptrdiff_t>(bottom), delimiters_.end(),
                      std::back_inserter(matched_));
    delimiters_.resize(bottom);
  }

  static bool matches(const Delimiters& opener, const Delimiters& closer) {
    if (opener.mark != closer.mark || !opener.can_open || opener.count == 0) return false;
    if (opener.mark == '~') return opener.count == closer.count;
    const bool both = opener.can_close || closer.can_open;
    return !both || (opener.original + closer.original) % 3 != 0 ||
           (opener.original % 3 == 0 && closer.original % 3 == 0);
  }

  static void add_delimiters(std::vector<InlineToken>& tokens, Delimiters& run) {
    std::ranges::move(run.closes, std::back_inserter(tokens));
    if (run.count > 0) {
      const std::string rest(run.count, run.mark);
      tokens.push_back({MarkdownKind::text, rest, rest});
    }
    std::ranges::move(run.opens.rbegin(), run.opens.rend(), std::back_inserter(tokens));
  }

  void open_bracket() {
    const bool image = text_[at_] == '!';
    const size_t size = image ? 2 : 1;
    const std::string raw(text_.substr(at_, size));
    add(MarkdownKind::text, size, raw);
    brackets_.push_back({pieces_.size() - 1, at_, image, true, delimiters_.size()});
  }

  void close_bracket() {
    if (brackets_.empty()) return add_text(1, "]");
    const Bracket bracket = brackets_.back();
    brackets_.pop_back();
    if (!bracket.active) return add_text(1, "]");
    std::string name;
    bool by_text = false;  // the text is the label
    const size_t end = end_of_link(bracket, name, by_text);
    if (end == 0) return add_text(1, "]");
    match_delimiters(bracket.delimiters);
    end_text();
    const std::string label(text_.substr(bracket.after, at_ - bracket.after));
    const bool parted =
        std::any_of(pieces_.begin() + static_cast<std::ptrdiff_t>(bracket.piece), pieces_.end(),
                    [](const InlineToken& t) { return t.kind == MarkdownKind::border; });
    if (by_text && parted) return keep_link(bracket, end);
    pieces_[bracket.piece].kind = MarkdownKind::open;
    pieces_[bracket.piece].text.clear();
    pieces_[bracket.piece].name = name;
    add(MarkdownKind::close, end - at_, "", name);
    if (by_text) pieces_.back().written = "][" + label + ']';
    if (bracket.image) return;
    for (auto other = brackets_.rbegin(); other != brackets_.rend(); ++other) {
      if (other->image) continue;
      if (!other->active) break;
      other->active = false;
    }
  }

  /// A link whose text cannot be translated, since its label would be.
  void keep_link(const Bracket& bracket, size_t end) {
    const size_t begin = bracket.after - (bracket.image ? 2 : 1);
    pieces_.resize(bracket.piece);
    std::erase_if(matched_, [&](const Delimiters& run) { return run.piece >= bracket.piece; });
    at_ = begin;
    add(MarkdownKind::kept, end - begin,
        std::string(text_.substr(bracket.after, end - bracket.after)));
  }

  /// The byte behind a link whose "]" is at at_, or 0.
  size_t end_of_link(const Bracket& bracket, std::string& name, bool& by_text) const {
    const std::string kind = bracket.image ? "image " : "link ";
    if (get(at_ + 1) == '(') {
      if (const size_t end = end_of_destination(text_, at_ + 2); end > 0) {
        name = kind + std::string(text_.substr(at_ + 1, end - at_ - 1));
        return end;
      }
    }
    if (get(at_ + 1) == '[' && get(at_ + 2) != ']') {
      const size_t end = text_.substr(0, at_ + kLongestMarkdownPart).find(']', at_ + 2);
      if (end == kNowhere) return 0;
      const std::string label = link_label(text_.substr(at_ + 2, end - at_ - 2));
      name = kind + '[' + label;
      if (labels_.contains(label)) return end + 1;
    }
    if (at_ - bracket.after > kLongestMarkdownPart) return 0;
    const std::string label = link_label(text_.substr(bracket.after, at_ - bracket.after));
    name = kind + '[' + label;
    by_text = true;
    if (label.empty() || !labels_.contains(label)) return 0;
    return get(at_ + 1) == '[' && get(at_ + 2) == ']' ? at_ + 3 : at_ + 1;
  }

  const std::string_view text_;
  const LinkLabels& labels_;
  size_t at_ = 0;
  std::string raw_, decoded_;  // text that has not become a piece
  std::vector<InlineToken> pieces_;
  std::vector<Delimiters> delimiters_, matched_;
  std::vector<Bracket> brackets_;
  std::map<size_t, std::vector<size_t>> runs_;  // of backticks, by their number
};

}  // namespace

std::vector<InlineToken> markdown_inlines(std::string_view text, const LinkLabels& labels) {
  return InlineParser(text, labels).read();
}

}  // namespace heed::document

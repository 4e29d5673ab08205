// Subtitles: SubRip (.srt) and WebVTT (https://www.w3.org/TR/webvtt1/). The text of a cue is a
// segment, unless its lines are those of several speakers.
#include <algorithm>
#include <array>

#include "heed/base/ascii.h"
#include "heed/base/byte_order_mark.h"
#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/document/content.h"
#include "heed/document/formats/formats.h"
#include "heed/document/formats/html/tokens.h"

namespace heed::document {
namespace {

constexpr std::string_view kArrow = "-->";

/// An arrow would be taken for a timing line.
std::string without_arrows(std::string text) {
  for (size_t at = text.find(kArrow); at != text.npos; at = text.find(kArrow, at)) text[at] = ' ';
  return text;
}

std::string escaped_srt(std::string_view text) { return without_arrows(std::string(text)); }
std::string escaped_vtt(std::string_view text) { return encoded_html(text); }

/// A space outside of tags.
struct LineBreak {
  size_t place = 0;    // its byte
  size_t visible = 0;  // bytes before it, without those of tags
};

/// The text in `lines` lines of about the same length, or fewer.
std::string in_lines(std::string text, size_t lines, const std::string& line_end) {
  if (text.find('\n') != text.npos) return text;  // as it was
  std::vector<LineBreak> breaks;
  size_t visible = 0;
  bool in_tag = false;
  for (size_t i = 0; i < text.size(); ++i) {
    in_tag |= text[i] == '<';
    if (text[i] == ' ' && !in_tag) breaks.push_back({i, visible});
    visible += in_tag ? 0 : 1;
    in_tag &= text[i] != '>';
  }
  std::string result;
  size_t at = 0;
  auto next = breaks.begin();
  for (size_t i = 1; i < lines && next != breaks.end(); ++i) {
    const size_t ideal = visible * i / lines;
    const auto distance = [&](const LineBreak& b) {
      return b.visible > ideal ? b.visible - ideal : ideal - b.visible;
    };
    while (next + 1 != breaks.end() && distance(*(next + 1)) < distance(*next)) ++next;
    result += text.substr(at, next->place - at) + line_end;
    at = next->place + 1;
    ++next;
  }
  return result + text.substr(at);
}

class SubtitleReader {
 public:
  SubtitleReader(DocumentContent& content, const KeepOptions& keep, bool vtt)
      : content_(content), vtt_(vtt) {
    rules_.placeholders = {.common = keep.placeholders, .numbers = keep.numbers};
    rules_.escape = rules_.escape_kept = vtt ? escaped_vtt : escaped_srt;
    if (content.bytes.find("\r\n") != std::string::npos) line_end_ = "\r\n";
  }

  void read() {
    const std::string_view bytes = content_.bytes;
    next_ = bytes.size() - without_byte_order_mark(bytes).size();
    read_line();
    if (vtt_) {
      require_input(text_.starts_with("WEBVTT"), "line 1: expected WEBVTT, found {}",
                    quoted(text_));
      skip_block();
    }
    while (has_line_) {
      if (text_.empty())
        read_line();
      else
        read_block();
    }
  }

 private:
  /// Moves to the next line.
  void read_line() {
    const std::string_view bytes = content_.bytes;
    has_line_ = next_ < bytes.size();
    text_ = {};
    if (!has_line_) return;
    ++line_;
    begin_ = next_;
    const size_t end = std::min(bytes.find('\n', begin_), bytes.size());
    next_ = end + 1;
    text_ = bytes.substr(begin_, end - begin_);
    if (text_.ends_with('\r')) text_.remove_suffix(1);
    if (text_.find_first_not_of(kWhiteSpace) == text_.npos) text_ = {};
  }

  void skip_block() {
    while (has_line_ && !text_.empty()) read_line();
  }

  static bool is_timing(std::string_view line) {
    return line.find(kArrow) != line.npos && line.find_first_of("0123456789") < line.find(kArrow);
  }

  void read_block() {
    if (vtt_ &&
        (text_.starts_with("NOTE") || text_.starts_with("STYLE") || text_.starts_with("REGION")) &&
        !is_timing(text_))
      return skip_block();
    if (!is_timing(text_)) read_line();  // its number or name
    require_input(is_timing(text_), "line {}: expected the times of a subtitle, found {}", line_,
                  quoted(text_));
    read_line();
    const size_t begin = begin_;
    std::vector<std::string_view> lines;
    while (has_line_ && !text_.empty()) {
      lines.push_back(text_);
      read_line();
    }
    if (!lines.empty()) add_cue(begin, lines);
  }

  /// The bytes of a dash before what a speaker says.
  static size_t size_of_dash(std::string_view line) {
    static constexpr std::array<std::string_view, 3> kDashes{"-", "–", "—"};
    const size_t begin = std::min(line.find_first_not_of(kWhiteSpace), line.size());
    for (const std::string_view dash : kDashes)
      if (line.substr(begin).starts_with(dash)) return begin + dash.size();
    return 0;
  }

  void add_cue(size_t begin, const std::vector<std::string_view>& lines) {
    const bool speakers = lines.size() > 1 && std::ranges::any_of(lines, [](auto line) {
                            return size_of_dash(line) > 0;
                          });
    std::vector<InlineToken> tokens;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (i > 0) {
        const size_t from =
            static_cast<size_t>(lines[i - 1].data() - content_.bytes.data()) + lines[i - 1].size();
        const auto to = static_cast<size_t>(lines[i].data() - content_.bytes.data());
        const std::string between = content_.bytes.substr(from, to - from);
        tokens.push_back(
            {speakers ? InlineToken::Kind::border : InlineToken::Kind::text, between, between});
      }
      const size_t dash = speakers ? size_of_dash(lines[i]) : 0;
      if (dash > 0)
        tokens.push_back({InlineToken::Kind::point, std::string(lines[i].substr(0, dash))});
      add_line(tokens, lines[i].substr(dash));
    }
    const auto end =
        static_cast<size_t>(lines.back().data() - content_.bytes.data()) + lines.back().size();
    Slot slot;
    slot.replaced = {begin, end};
    slot.parts = content_.add_parts(std::string_view(content_.bytes).substr(begin, end - begin),
                                    build_runs(tokens, rules_), slot.literal);
    if (slot.parts.empty()) return;
    slot.encode = [count = lines.size(), eol = line_end_](std::string text) {
      return in_lines(std::move(text), count, eol);
    };
    content_.slots.push_back(std::move(slot));
  }

  /// Tags such as <i> and <v Roger>, and codes such as {\an8}.
  void add_line(std::vector<InlineToken>& tokens, std::string_view line) const {
    while (!line.empty()) {
      const size_t size = size_of_markup(line);
      if (size == 0) {
        size_t end = 1;
        while (end < line.size() && size_of_markup(line.substr(end)) == 0) ++end;
        const std::string raw(line.substr(0, end));
        tokens.push_back({InlineToken::Kind::text, raw, vtt_ ? decoded_html(raw) : raw});
        line.remove_prefix(end);
        continue;
      }
      tokens.push_back(markup(line.substr(0, size)));
      line.remove_prefix(size);
    }
  }

  static size_t size_of_markup(std::string_view line) {
    constexpr size_t kLongest = 200;
    const bool tag =
        line.front() == '<' && line.size() > 1 &&
        (line[1] == '/' || (line[1] | 0x20) >= 'a' || (line[1] >= '0' && line[1] <= '9'));
    const bool code = line.starts_with("{\\");
    if (!tag && !code) return 0;
    const size_t end = line.substr(0, kLongest).find(tag ? '>' : '}');
    return end == line.npos ? 0 : end + 1;
  }

  static InlineToken markup(std::string_view raw) {
    const bool ends = raw.starts_with("</");
    const size_t begin = ends ? 2 : 1;
    const std::string name = lower_case(raw.substr(begin, raw.find_first_of(" .>", begin) - begin));
    static constexpr std::array<std::string_view, 8> kPaired{"i",    "b", "u",    "s",
                                                             "font", "c", "lang", "v"};
    if (raw.front() == '{' || std::ranges::find(kPaired, name) == kPaired.end())
      return {InlineToken::Kind::point, std::string(raw)};
    return {ends ? InlineToken::Kind::close : InlineToken::Kind::open, std::string(raw), "", name};
  }

  DocumentContent& content_;
  const bool vtt_;
  RunRules rules_;
  std::string line_end_ = "\n";
  bool has_line_ = false;
  size_t next_ = 0, begin_ = 0;  // the first bytes of the next line and of this one
  int64_t line_ = 0;             // the number of this one
  std::string_view text_;        // of this one; empty if it is blank
};

}  // namespace

void read_srt(DocumentContent& content, const KeepOptions& keep) {
  SubtitleReader(content, keep, false).read();
}
void read_vtt(DocumentContent& content, const KeepOptions& keep) {
  SubtitleReader(content, keep, true).read();
}

}  // namespace heed::document

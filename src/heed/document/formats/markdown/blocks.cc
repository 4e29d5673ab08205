#include "heed/document/formats/markdown/blocks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "heed/base/ascii.h"

namespace heed::document {
namespace {

constexpr size_t kMaxContainers = 100;

constexpr std::array<std::string_view, 62> kHtmlBlocks{
    "address",  "article",  "aside",    "base",       "basefont", "blockquote", "body",   "caption",
    "center",   "col",      "colgroup", "dd",         "details",  "dialog",     "dir",    "div",
    "dl",       "dt",       "fieldset", "figcaption", "figure",   "footer",     "form",   "frame",
    "frameset", "h1",       "h2",       "h3",         "h4",       "h5",         "h6",     "head",
    "header",   "hr",       "html",     "iframe",     "legend",   "li",         "link",   "main",
    "menu",     "menuitem", "nav",      "noframes",   "ol",       "optgroup",   "option", "p",
    "param",    "search",   "section",  "summary",    "table",    "tbody",      "td",     "tfoot",
    "th",       "thead",    "title",    "tr",         "track",    "ul"};
constexpr std::array<std::string_view, 4> kRawHtml{"script", "pre", "style", "textarea"};

/// Reads a line from its beginning, by columns: a tab goes to the next multiple of four.
struct LineCursor {
  std::string_view line;
  size_t at = 0, column = 0;

  char get() const { return at < line.size() ? line[at] : '\0'; }
  std::string_view rest() const { return line.substr(std::min(at, line.size())); }
  bool is_blank() const { return rest().find_first_not_of(" \t\r") == std::string_view::npos; }

  /// Columns of white space from here on.
  size_t indent() const {
    size_t end = column;
    for (size_t i = at; i < line.size() && (line[i] == ' ' || line[i] == '\t'); ++i)
      end += line[i] == '\t' ? 4 - end % 4 : 1;
    return end - column;
  }

  /// Moves by columns of white space, or, at other characters, by these.
  void advance(size_t columns) {
    for (size_t moved = 0; moved < columns && at < line.size(); ++at) {
      const size_t width = line[at] == '\t' ? 4 - column % 4 : 1;
      moved += width;
      column += width;
    }
  }
};

class MarkdownBlockReader {
 public:
  explicit MarkdownBlockReader(std::string_view text) : text_(text) {}

  std::vector<MarkdownBlock> read() {
    for (size_t at = front_matter(); at < text_.size();) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      cursor_ = {text_.substr(at, end - at)};
      if (cursor_.line.ends_with('\r')) cursor_.line.remove_suffix(1);
      begin_ = at;
      read_line();
      at = end + 1;
    }
    end_paragraph();
    return std::move(blocks_);
  }

 private:
  /// Of a list item, or of a quote, which has none.
  struct Container {
    bool quote = false;
    size_t indent = 0;
  };

  /// What stays as it is, over several lines.
  struct Verbatim {
    size_t containers = 0;  // that it is in
    char fence = '\0';      // of fenced code; else an HTML block
    size_t length = 0;      // of the fence
    std::string end;        // of HTML; empty: a blank line
  };

  /// The bytes of metadata between two lines of "---" or "+++".
  size_t front_matter() const {
    const size_t mark = text_.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    const std::string_view fence = text_.substr(mark, 3);
    const size_t first = text_.find('\n', mark);
    if ((fence != "---" && fence != "+++") || first == text_.npos ||
        !trimmed(text_.substr(mark + 3, first - mark - 3)).empty())
      return mark;
    for (size_t at = first + 1; at < text_.size();) {
      const size_t end = std::min(text_.find('\n', at), text_.size());
      const std::string_view line = trimmed(text_.substr(at, end - at));
      if (line.empty() && at == first + 1) break;  // a thematic break
      if (line == fence) return std::min(end + 1, text_.size());
      at = end + 1;
    }
    return mark;
  }

  void read_line() {
    const size_t matched = match_containers();
    if (verbatim_ && verbatim_->containers <= matched) return read_verbatim();
    verbatim_.reset();
    if (cursor_.is_blank()) {
      end_paragraph();
      containers_.resize(matched);
      return;
    }
    read_blocks(matched);
  }

  size_t match_containers() {
    for (size_t i = 0; i < containers_.size(); ++i) {
      const size_t indent = cursor_.indent();
      if (!containers_[i].quote) {
        if (cursor_.is_blank()) continue;
        if (indent < containers_[i].indent) return i;
        cursor_.advance(containers_[i].indent);
      } else if (!enter_quote()) {
        return i;
      }
    }
    return containers_.size();
  }

  bool enter_quote() {
    const size_t indent = cursor_.indent();
    LineCursor inside = cursor_;
    inside.advance(indent);
    if (indent > 3 || inside.get() != '>') return false;
    inside.advance(1);
    if (inside.get() == ' ' || inside.get() == '\t') inside.advance(1);
    cursor_ = inside;
    return true;
  }

  void read_verbatim() {
    const std::string_view line = trimmed(cursor_.rest());
    if (verbatim_->fence != '\0') {
      const bool closes = cursor_.indent() <= 3 && line.size() >= verbatim_->length &&
                          line.find_first_not_of(verbatim_->fence) == line.npos;
      if (closes) verbatim_.reset();
    } else if (verbatim_->end.empty() ? line.empty()
                                      : lower_case(line).find(verbatim_->end) != line.npos) {
      verbatim_.reset();
    }
  }

  /// The starts of blocks of a line, and its text.
  void read_blocks(size_t matched) {
    bool all_matched = matched == containers_.size();
    const auto begin_block = [&] {
      end_paragraph();
      if (!all_matched) containers_.resize(matched);
      all_matched = true;
    };
    while (true) {
      const size_t indent = cursor_.indent();
      if (indent >= 4) {
        if (!paragraph_.empty()) break;
        begin_block();
        return;  // indented code
      }
      LineCursor inside = cursor_;
      inside.advance(indent);
      const std::string_view line = trimmed(inside.rest());
      if (line.empty()) return;
      if (inside.get() == '>') {
        begin_block();
        enter_quote();
        if (!push({true, 0}, matched)) return;
        continue;
      }
      if (!paragraph_.empty() && all_matched && is_underline(line)) return end_paragraph();
      if (is_thematic_break(line)) return begin_block();
      if (const size_t marks = heading_marks(line); marks > 0) {
        begin_block();
        return add_heading(inside, marks);
      }
      if (begins_verbatim(line)) {
        begin_block();
        verbatim_ = *begins_verbatim(line);
        verbatim_->containers = containers_.size();
        if (verbatim_->fence == '\0') read_verbatim();
        return;
      }
      const std::optional<size_t> marker =
          marker_size(inside, line, all_matched && !paragraph_.empty());
      if (!marker) break;
      begin_block();
      if (!enter_item(inside, indent, *marker, matched)) return;
    }
    add_text_line(all_matched, matched);
  }

  bool push(Container container, size_t& matched) {
    if (containers_.size() >= kMaxContainers) return false;
    containers_.push_back(container);
    matched = containers_.size();
    return true;
  }

  static bool is_underline(std::string_view line) {
    return line.find_first_not_of('=') == line.npos || line.find_first_not_of('-') == line.npos;
  }

  static bool is_thematic_break(std::string_view line) {
    const char mark = line.front();
    if (mark != '-' && mark != '*' && mark != '_') return false;
    return std::ranges::count(line, mark) >= 3 &&
           std::ranges::all_of(line, [&](char c) { return c == mark || c == ' ' || c == '\t'; });
  }

  static size_t heading_marks(std::string_view line) {
    const size_t marks = std::min(line.find_first_not_of('#'), line.size());
    return marks <= 6 && (marks == line.size() || line[marks] == ' ' || line[marks] == '\t') ? marks
                                                                                             : 0;
  }

  void add_heading(LineCursor inside, size_t marks) {
    size_t begin = inside.at + marks, end = inside.line.size();
    const std::string_view line = inside.line;
    const auto trim_end = [&] {
      while (end > begin && (line[end - 1] == ' ' || line[end - 1] == '\t')) --end;
    };
    trim_end();
    size_t closing = end;
    while (closing > begin && line[closing - 1] == '#') --closing;
    if (closing == begin || line[closing - 1] == ' ' || line[closing - 1] == '\t') end = closing;
    trim_end();
    while (begin < end && (line[begin] == ' ' || line[begin] == '\t')) ++begin;
    if (begin < end) blocks_.push_back({{{begin_ + begin, begin_ + end}}});
  }

  /// Fenced code or HTML that begins here.
  std::optional<Verbatim> begins_verbatim(std::string_view line) const {
    if (line.front() == '`' || line.front() == '~') {
      const size_t length = std::min(line.find_first_not_of(line.front()), line.size());
      if (length < 3 || (line.front() == '`' && line.find('`', length) != line.npos))
        return std::nullopt;
      return Verbatim{0, line.front(), length, ""};
    }
    if (line.front() != '<' || line.size() < 2) return std::nullopt;
    if (line.starts_with("<!--")) return Verbatim{0, '\0', 0, "-->"};
    if (line.starts_with("<?")) return Verbatim{0, '\0', 0, "?>"};
    if (line.starts_with("<![CDATA[")) return Verbatim{0, '\0', 0, "]]>"};
    if (line.starts_with("<!")) return Verbatim{0, '\0', 0, ">"};
    const size_t begin = line[1] == '/' ? 2 : 1;
    const size_t name_end = std::min(line.find_first_of(" \t/>", begin), line.size());
    const std::string name = lower_case(line.substr(begin, name_end - begin));
    if (begin == 1 && std::ranges::find(kRawHtml, name) != kRawHtml.end())
      return Verbatim{0, '\0', 0, "</" + name + ">"};
    if (std::ranges::find(kHtmlBlocks, name) != kHtmlBlocks.end()) return Verbatim{};
    // Any other tag, alone in its line, but not within a paragraph.
    const bool alone = !name.empty() && std::isalpha(static_cast<unsigned char>(name.front())) &&
                       line.find('>') == line.size() - 1;
    return alone && paragraph_.empty() ? std::optional(Verbatim{}) : std::nullopt;
  }

  /// The bytes of the marker of a list item. One that `interrupts` a paragraph has text and
  /// number 1.
  std::optional<size_t> marker_size(const LineCursor& inside, std::string_view line,
                                    bool interrupts) const {
    size_t size = 0;
    if (line.front() == '-' || line.front() == '+' || line.front() == '*') {
      size = 1;
    } else {
      while (size < line.size() && size < 10 && line[size] >= '0' && line[size] <= '9') ++size;
      if (size == 0 || size > 9 || size >= line.size() || (line[size] != '.' && line[size] != ')'))
        return std::nullopt;
      const bool one = line.substr(0, size) == "1";
      if (interrupts && !one) return std::nullopt;
      ++size;
    }
    const bool empty = size >= line.size();
    const char after = empty ? ' ' : inside.line[inside.at + size];
    if (after != ' ' && after != '\t') return std::nullopt;
    return empty && interrupts ? std::nullopt : std::optional(size);
  }

  bool enter_item(LineCursor inside, size_t indent, size_t marker, size_t& matched) {
    inside.advance(marker);
    const size_t spaces = inside.is_blank() ? 1 : inside.indent();
    const size_t used = spaces > 4 ? 1 : spaces;
    inside.advance(used);
    cursor_ = inside;
    return push({false, indent + marker + used}, matched);
  }

  void add_text_line(bool all_matched, size_t matched) {
    if (paragraph_.empty() && !all_matched) containers_.resize(matched);
    size_t begin = cursor_.at;
    while (begin < cursor_.line.size() &&
           (cursor_.line[begin] == ' ' || cursor_.line[begin] == '\t'))
      ++begin;
    const ByteRange line{begin_ + begin, begin_ + cursor_.line.size()};
    if (in_table_ && all_matched) return add_row(line);
    if (paragraph_.size() == 1 && all_matched && begins_table(line)) {
      const ByteRange head = paragraph_.front();
      paragraph_.clear();
      in_table_ = true;
      return add_row(head);
    }
    in_table_ = false;
    paragraph_.push_back(line);
  }

  std::string_view view(ByteRange range) const {
    return text_.substr(range.begin, range.end - range.begin);
  }

  /// The cells of a row, without the pipes.
  std::vector<ByteRange> cells(ByteRange row) const {
    std::vector<ByteRange> result;
    const std::string_view line = view(row);
    size_t begin = line.starts_with('|') ? 1 : 0;
    for (size_t i = begin; i < line.size(); ++i) {
      if (line[i] == '\\') {
        ++i;
      } else if (line[i] == '|') {
        result.push_back({row.begin + begin, row.begin + i});
        begin = i + 1;
      }
    }
    if (!trimmed(line.substr(std::min(begin, line.size()))).empty())
      result.push_back({row.begin + begin, row.end});
    return result;
  }

  bool begins_table(ByteRange line) const {
    const std::string_view rule = trimmed(view(line));
    if (rule.find_first_not_of("|-: \t") != rule.npos || rule.find('-') == rule.npos ||
        rule.find('|') == rule.npos)
      return false;
    const std::vector<ByteRange> parts = cells(line);
    const bool rules = std::ranges::all_of(parts, [&](ByteRange part) {
      std::string_view cell = trimmed(view(part));
      if (cell.starts_with(':')) cell.remove_prefix(1);
      if (cell.ends_with(':')) cell.remove_suffix(1);
      return !cell.empty() && cell.find_first_not_of('-') == cell.npos;
    });
    return rules && parts.size() == cells(paragraph_.front()).size();
  }

  void add_row(ByteRange row) {
    for (const ByteRange cell : cells(row)) blocks_.push_back({{cell}, true});
  }

  void end_paragraph() {
    if (!paragraph_.empty()) blocks_.push_back({std::move(paragraph_)});
    paragraph_.clear();
    in_table_ = false;
  }

  const std::string_view text_;
  std::vector<MarkdownBlock> blocks_;
  std::vector<Container> containers_;
  std::vector<ByteRange> paragraph_;
  std::optional<Verbatim> verbatim_;
  bool in_table_ = false;
  LineCursor cursor_;
  size_t begin_ = 0;  // of the line
};

}  // namespace

std::vector<MarkdownBlock> markdown_blocks(std::string_view text) {
  return MarkdownBlockReader(text).read();
}

}  // namespace heed::document

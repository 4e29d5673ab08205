// Markdown: CommonMark with the tables and ~~ of GFM. Its bytes stay as they are, but for the text
// of paragraphs, headings and cells. A paragraph that is translated is one line.
#include <algorithm>
#include <optional>

#include "heed/base/ascii.h"
#include "heed/document/content.h"
#include "heed/document/formats/formats.h"
#include "heed/document/formats/markdown/blocks.h"
#include "heed/document/formats/markdown/inlines.h"
#include "heed/document/formats/markdown/scan.h"

namespace heed::document {
namespace {

/// The items of a text, each with the elements that it is in, in any order.
class ItemList {
 public:
  void open(const std::string& name) {
    add(name);
    path_.push_back(path() + name + '>');
  }
  void close() { path_.pop_back(); }
  void add(const std::string& name) { items_.push_back(path() + name); }

  std::vector<std::string> sorted() {
    std::ranges::sort(items_);
    return std::move(items_);
  }

 private:
  std::string path() const { return path_.empty() ? "" : path_.back(); }

  std::vector<std::string> path_, items_;
};

/// The name by which an element is known, from its tags: that of a token, if it is a link.
std::string element_name(const std::string& open, const std::string& close) {
  if (open.front() == '*' || open.front() == '_') return open.size() == 1 ? "em" : "strong";
  if (open.front() != '[' && open.front() != '!') return open;
  const std::string kind = open.front() == '!' ? "image " : "link ";
  if (close.starts_with("](")) return kind + close.substr(1);
  return kind + '[' + link_label(std::string_view(close).substr(2, close.size() - 3));
}

bool is_link(const InlineToken& tag) {
  return tag.raw.starts_with('[') || tag.raw.starts_with('!');
}

/// The items of a text, with what ends its segments; none, if its tags do not match.
std::optional<std::vector<std::string>> items_of(std::string_view text, const LinkLabels& labels) {
  const std::vector<InlineToken> tokens = markdown_inlines(text, labels);
  std::vector<size_t> opened;
  ItemList found;
  for (size_t i = tokens.size(); i-- > 0;) {
    if (tokens[i].kind == InlineToken::Kind::close) opened.push_back(i);
    if (tokens[i].kind != InlineToken::Kind::open || opened.empty()) continue;
    if (tokens[opened.back()].name != tokens[i].name) return std::nullopt;
    opened.pop_back();
  }
  size_t open = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    switch (tokens[i].kind) {
      case InlineToken::Kind::text:
        break;
      case InlineToken::Kind::open:
        found.open(is_link(tokens[i]) ? tokens[i].name : element_name(tokens[i].raw, ""));
        ++open;
        break;
      case InlineToken::Kind::close:
        if (open-- == 0) return std::nullopt;
        found.close();
        break;
      default:
        found.add(tokens[i].raw);
    }
  }
  return found.sorted();
}

/// With a backslash before what would begin a block.
std::string not_a_block(std::string text) {
  if (text.empty()) return text;
  if (std::string_view("#>+-=|:").find(text.front()) != std::string_view::npos) return '\\' + text;
  const size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  if (digits > 0 && digits < text.size() && (text[digits] == '.' || text[digits] == ')'))
    text.insert(digits, "\\");
  return text;
}

class MarkdownCheck : public StructureCheck {
 public:
  /// `cell`: of a table, in which no blocks begin.
  MarkdownCheck(LinkLabels labels, bool cell) : labels_(std::move(labels)), cell_(cell) {}

  bool has_items(const Run& run, std::string_view written) const override {
    return items_of(written, labels_) == expected(run);
  }

  bool has_same_items(std::string_view source, std::string_view written) const {
    return items_of(source, labels_) == items_of(written, labels_);
  }

  std::string in_place(std::string written) const override {
    return cell_ ? written : not_a_block(std::move(written));
  }

  /// Emphasis within emphasis is written with the other mark.
  std::string respelled(const std::string& tag, size_t depth) const override {
    if (tag.empty() || tag.find_first_not_of(tag.front()) != tag.npos) return tag;
    if (tag.front() != '*' && tag.front() != '_') return tag;
    return std::string(tag.size(), depth % 2 == 0 ? '*' : '_');
  }

 private:
  static std::vector<std::string> expected(const Run& run) {
    ItemList items;
    std::vector<int32_t> open;
    const auto close_until = [&](int32_t parent) {
      while (!open.empty() && open.back() != parent) {
        open.pop_back();
        items.close();
      }
    };
    for (size_t i = 0; i < run.items.size(); ++i) {
      const Inline& item = run.items[i];
      close_until(item.parent);
      if (item.placeholder) continue;
      if (item.kind == Inline::Kind::element) {
        items.open(element_name(item.open, item.close));
        open.push_back(static_cast<int32_t>(i));
      } else {
        items.add(item.open);
      }
    }
    return items.sorted();
  }

  const LinkLabels labels_;
  const bool cell_;
};

class MarkdownReader {
 public:
  MarkdownReader(DocumentContent& content, const KeepOptions& keep) : content_(content) {
    rules_.placeholders = {.common = keep.placeholders, .numbers = keep.numbers};
    rules_.filler = "\u2060";  // a word joiner, which nobody sees
  }

  void read() {
    std::vector<MarkdownBlock> blocks = markdown_blocks(content_.bytes);
    LinkLabels labels;
    for (MarkdownBlock& block : blocks)
      if (!block.cell) take_definitions(block, labels);
    line_check_ = std::make_shared<MarkdownCheck>(labels, false);
    cell_check_ = std::make_shared<MarkdownCheck>(labels, true);
    for (const MarkdownBlock& block : blocks)
      if (!block.lines.empty()) add_block(block, labels);
  }

 private:
  std::string_view view(ByteRange range) const {
    return std::string_view(content_.bytes).substr(range.begin, range.end - range.begin);
  }

  /// Takes "[label]: destination 'title'" from the beginning of a paragraph. One that goes over
  /// several lines takes the paragraph.
  void take_definitions(MarkdownBlock& block, LinkLabels& labels) const {
    size_t taken = 0;
    for (const ByteRange range : block.lines) {
      const std::string_view line = trimmed(view(range));
      const size_t end = line.starts_with('[') ? line.find("]:") : line.npos;
      if (end == line.npos || line.starts_with("[^")) break;
      const std::string_view rest = trimmed(line.substr(end + 2));
      const size_t destination =
          rest.starts_with('<') ? rest.find('>') + 1 : rest.find_first_of(" \t");
      const std::string_view title =
          destination >= rest.size() ? "" : trimmed(rest.substr(destination));
      const bool whole =
          !title.empty() && title.size() > 1 &&
          (title.back() == title.front() || (title.front() == '(' && title.back() == ')')) &&
          (title.front() == '"' || title.front() == '\'' || title.front() == '(');
      if (!rest.empty() && !title.empty() && !whole && title.front() != '"' &&
          title.front() != '\'')
        break;
      labels.insert(link_label(line.substr(1, end - 1)));
      ++taken;
      if (rest.empty() || (!title.empty() && !whole)) taken = block.lines.size();
      if (taken == block.lines.size()) break;
      const std::string_view next = trimmed(view(block.lines[taken]));
      if (title.empty() &&
          (next.starts_with('"') || next.starts_with('\'') || next.starts_with('('))) {
        taken = block.lines.size();
        break;
      }
    }
    block.lines.erase(
        block.lines.begin(),
        block.lines.begin() + static_cast<std::ptrdiff_t>(std::min(taken, block.lines.size())));
  }

  void add_block(const MarkdownBlock& block, const LinkLabels& labels) {
    rules_.escape = block.cell ? escaped_table_cell : escaped_markdown;
    const std::shared_ptr<const MarkdownCheck> check = block.cell ? cell_check_ : line_check_;
    rules_.check = check;
    std::string text;
    std::vector<std::string> breaks;
    for (size_t i = 0; i < block.lines.size(); ++i) {
      if (i > 0) {
        const size_t end = block.lines[i - 1].end;
        breaks.push_back(content_.bytes.substr(end, block.lines[i].begin - end));
        text += '\n';
      }
      text += view(block.lines[i]);
    }
    std::vector<InlineToken> tokens = markdown_inlines(text, labels);
    restore_breaks(tokens, breaks);
    Slot slot;
    slot.replaced = {block.lines.front().begin, block.lines.back().end};
    const std::string source(view(slot.replaced));
    slot.parts = content_.add_parts(source, build_runs(tokens, rules_), slot.literal);
    if (slot.parts.empty()) return;
    // Beside tags that stay where they are, a translation may read otherwise than alone.
    slot.encode = [source, check](std::string written) {
      return check->has_same_items(source, written) ? written : source;
    };
    content_.slots.push_back(std::move(slot));
  }

  /// What stands between two lines, such as "> ".
  static void restore_breaks(std::vector<InlineToken>& tokens,
                             const std::vector<std::string>& breaks) {
    auto next = breaks.begin();
    for (InlineToken& token : tokens) {
      std::string raw;
      for (const char c : token.raw) {
        if (c == '\n')
          raw += *next++;
        else
          raw += c;
      }
      token.raw = std::move(raw);
    }
  }

  DocumentContent& content_;
  RunRules rules_;
  std::shared_ptr<const MarkdownCheck> line_check_, cell_check_;
};

}  // namespace

void read_markdown(DocumentContent& content, const KeepOptions& keep) {
  MarkdownReader(content, keep).read();
}

}  // namespace heed::document

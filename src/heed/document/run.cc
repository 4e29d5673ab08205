#include "heed/document/run.h"

#include <algorithm>

#include "heed/base/utf8.h"
#include "heed/text/unicode/properties.h"

namespace heed::document {
namespace {

constexpr std::string_view kSpace = " \t\r\n\f";
using InlineTokens = std::vector<InlineToken>;
using TokenKind = InlineToken::Kind;

bool is_blank(std::string_view text) { return text.find_first_not_of(kSpace) == text.npos; }

/// For each tag its partner, or npos.
std::vector<size_t> partners_of(const InlineTokens& tokens) {
  std::vector<size_t> partners(tokens.size(), std::string::npos), open;
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind == TokenKind::border) open.clear();
    if (tokens[i].kind == TokenKind::open) open.push_back(i);
    if (tokens[i].kind != TokenKind::close) continue;
    if (open.empty() || tokens[open.back()].name != tokens[i].name ||
        open.size() > static_cast<size_t>(kMaxInlineDepth)) {
      open.clear();  // a border lies within all of them
      continue;
    }
    partners[i] = open.back();
    partners[open.back()] = i;
    open.pop_back();
  }
  return partners;
}

bool is_border(const InlineToken& token, size_t partner) {
  const bool tag = token.kind == TokenKind::open || token.kind == TokenKind::close;
  return token.kind == TokenKind::border || (tag && partner == std::string::npos);
}

/// Elements that have a border within them are borders, too.
void part_at_borders(const InlineTokens& tokens, std::vector<size_t>& partners) {
  size_t last = 0;  // behind the last border
  std::vector<size_t> last_before(tokens.size(), 0);
  for (size_t i = 0; i < tokens.size(); ++i) {
    last_before[i] = last;
    if (is_border(tokens[i], partners[i])) last = i + 1;
  }
  for (size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].kind == TokenKind::open && partners[i] != std::string::npos &&
        last_before[partners[i]] > i)
      partners[partners[i]] = partners[i] = std::string::npos;
}

/// A segment has no line breaks.
std::string in_one_line(std::string_view text) {
  std::string line(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

/// Makes a segment of tokens, all of whose tags have partners.
class RunBuilder {
 public:
  RunBuilder(const InlineTokens& tokens, const std::vector<size_t>& partners, const RunRules& rules)
      : tokens_(tokens), partners_(partners), rules_(rules) {}

  /// Of tokens `begin` to `end`, the first of which is at byte `at`. False if there is no letter.
  bool build(size_t begin, size_t end, size_t at, BuiltRun& built) {
    trim(begin, end, at);
    if (begin == end) return false;
    built_ = &built;
    built.run.rules = rules_;
    built.replaced = {at, at};
    std::vector<int32_t> open;
    for (size_t i = begin; i < end; ++i) {
      const InlineToken& token = tokens_[i];
      const std::string_view raw = i == begin ? first_raw(token) : std::string_view(token.raw);
      add(token, i + 1 == end ? without_trailing(raw, token) : raw, open);
    }
    finish();
    return has_letters_;
  }

 private:
  /// Moves the ends inwards, past what surrounds the text.
  void trim(size_t& begin, size_t& end, size_t& at) {
    bool moved = true;
    while (moved && begin < end) {
      moved = false;
      while (begin < end && surrounds(begin)) {
        at += tokens_[begin++].raw.size();
        moved = true;
      }
      while (begin < end && surrounds(end - 1)) {
        --end;
        moved = true;
      }
      moved |= drop_empty_elements(begin, end, at);
      if (begin < end && tokens_[begin].kind == TokenKind::open && partners_[begin] == end - 1 &&
          tokens_[end - 1].written.empty()) {
        at += tokens_[begin++].raw.size();
        --end;
        moved = true;
      }
    }
    if (begin == end) return;
    leading_ =
        tokens_[begin].kind == TokenKind::text
            ? std::min(tokens_[begin].raw.find_first_not_of(kSpace), tokens_[begin].raw.size())
            : 0;
    at += leading_;
  }

  bool surrounds(size_t i) const {
    return tokens_[i].kind == TokenKind::point ||
           (tokens_[i].kind == TokenKind::text && is_blank(tokens_[i].raw));
  }

  /// Elements without text at the ends.
  bool drop_empty_elements(size_t& begin, size_t& end, size_t& at) {
    bool dropped = false;
    while (begin < end && tokens_[begin].kind == TokenKind::open &&
           is_empty(begin, partners_[begin])) {
      for (const size_t last = partners_[begin]; begin <= last; ++begin)
        at += tokens_[begin].raw.size();
      dropped = true;
    }
    while (begin < end && tokens_[end - 1].kind == TokenKind::close &&
           is_empty(partners_[end - 1], end - 1)) {
      end = partners_[end - 1];
      dropped = true;
    }
    return dropped;
  }

  bool is_empty(size_t first, size_t last) const {
    for (size_t i = first + 1; i < last; ++i)
      if (tokens_[i].kind == TokenKind::kept ||
          (tokens_[i].kind == TokenKind::text && !is_blank(tokens_[i].raw)))
        return false;
    return true;
  }

  std::string_view first_raw(const InlineToken& token) const {
    return std::string_view(token.raw).substr(leading_);
  }

  std::string_view without_trailing(std::string_view raw, const InlineToken& token) const {
    return token.kind == TokenKind::text ? raw.substr(0, raw.find_last_not_of(kSpace) + 1) : raw;
  }

  void add(const InlineToken& token, std::string_view raw, std::vector<int32_t>& open) {
    Run& run = built_->run;
    run.source += raw;
    built_->replaced.end += raw.size();
    const int32_t parent = open.empty() ? -1 : open.back();
    const size_t at = text_.size();
    switch (token.kind) {
      case TokenKind::text:
        add_text(token.text, parent);
        break;
      case TokenKind::open:
        open.push_back(static_cast<int32_t>(run.items.size()));
        run.items.push_back({Inline::Kind::element, {at, at}, written(token), "", parent});
        break;
      case TokenKind::close:
        run.items[static_cast<size_t>(open.back())].close = written(token);
        run.items[static_cast<size_t>(open.back())].text.end = at;
        open.pop_back();
        break;
      case TokenKind::border:
        break;  // between segments
      case TokenKind::kept:
        add_kept(token.text, token.raw, parent, false);
        break;
      case TokenKind::point:
        add_atom({Inline::Kind::point, {at, at}, token.raw, "", parent});
        break;
    }
  }

  static const std::string& written(const InlineToken& token) {
    return token.written.empty() ? token.raw : token.written;
  }

  void add_text(std::string_view text, int32_t parent) {
    size_t at = 0;
    for (const Placeholder& found : find_placeholders(text, rules_.placeholders)) {
      append(text.substr(at, found.range.begin - at));
      const std::string_view kept =
          text.substr(found.range.begin, found.range.end - found.range.begin);
      add_kept(kept, rules_.escape_kept(kept), parent, true);
      at = found.range.end;
    }
    append(text.substr(at));
  }

  void append(std::string_view text) {
    has_letters_ |= has_letter(text);
    append_spaced(text);
  }

  void append_spaced(std::string_view text) {
    if (text.empty()) return;
    if (last_atom_ > 0)
      built_->run.items[last_atom_ - 1].space_after = kSpace.find(text.front()) != kSpace.npos;
    last_atom_ = 0;
    for (const char c : text) {
      if (!rules_.single_spaces || kSpace.find(c) == kSpace.npos)
        text_ += c;
      else if (!text_.empty() && text_.back() != ' ')
        text_ += ' ';
    }
  }

  void add_kept(std::string_view text, std::string raw, int32_t parent, bool placeholder) {
    const size_t begin = text_.size();
    append_spaced(in_one_line(text));
    add_atom({Inline::Kind::kept, {begin, text_.size()}, std::move(raw), "", parent, placeholder});
  }

  /// A kept part or a point.
  void add_atom(Inline item) {
    const size_t begin = item.text.begin;
    item.space_before = begin > 0 && text_[begin - 1] == ' ';
    built_->run.items.push_back(std::move(item));
    last_atom_ = built_->run.items.size();
  }

  void finish() {
    const size_t end = text_.find_last_not_of(kSpace) + 1;
    const size_t skipped = std::min(text_.find_first_not_of(kSpace), end);
    const auto moved = [&](size_t at) { return std::clamp(at, skipped, end) - skipped; };
    for (Inline& item : built_->run.items) {
      item.text = {moved(item.text.begin), moved(item.text.end)};
      if (item.kind == Inline::Kind::kept && item.text.begin < item.text.end)
        built_->segment.kept.push_back(item.text);
    }
    built_->segment.text = text_.substr(skipped, end - skipped);
  }

  const InlineTokens& tokens_;
  const std::vector<size_t>& partners_;
  const RunRules& rules_;
  BuiltRun* built_ = nullptr;
  std::string text_;
  size_t leading_ = 0;    // white space before the text of the first token
  size_t last_atom_ = 0;  // its item's number, until text follows it; 0: none
  bool has_letters_ = false;
};

}  // namespace

std::string unescaped(std::string_view text) { return std::string(text); }

bool has_letter(std::string_view text) {
  bool found = false;
  for_each_code_point(text, [&](const CodePoint& c, std::string_view /*bytes*/) {
    found |= text::is_word(c.value) && !text::is_numeric(c.value) && c.value != U'_';
  });
  return found;
}

std::vector<BuiltRun> build_runs(const InlineTokens& tokens, const RunRules& rules) {
  std::vector<size_t> partners = partners_of(tokens);
  part_at_borders(tokens, partners);
  std::vector<BuiltRun> built;
  size_t begin = 0, begin_at = 0, at = 0;
  for (size_t i = 0; i <= tokens.size(); ++i) {
    const bool border = i == tokens.size() || is_border(tokens[i], partners[i]);
    if (border) {
      BuiltRun run;
      if (RunBuilder(tokens, partners, rules).build(begin, i, begin_at, run))
        built.push_back(std::move(run));
    }
    if (i < tokens.size()) at += tokens[i].raw.size();
    if (border) {
      begin = i + 1;
      begin_at = at;
    }
  }
  return built;
}

}  // namespace heed::document

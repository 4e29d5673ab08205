// Message catalogs of gettext
// (https://www.gnu.org/software/gettext/manual/html_node/PO-Files.html): the messages without a
// translation get one. Everything else stays: contexts, comments, flags, obsolete entries,
// translations that are there.
#include <algorithm>
#include <array>
#include <optional>

#include "heed/base/ascii.h"
#include "heed/base/byte_order_mark.h"
#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/document/content.h"
#include "heed/document/formats/formats.h"

namespace heed::document {
namespace {

/// A keyword with its strings, which may be several lines.
struct PoString {
  std::string keyword;
  std::string text;   // what the strings stand for
  ByteRange strings;  // from the first quote to the last
};

struct PoEntry {
  std::vector<std::string> flags;
  std::string id, plural;
  std::vector<PoString> translations;

  bool has_flag(std::string_view flag) const {
    return std::ranges::find(flags, flag) != flags.end();
  }
};

std::string doubled(std::string_view text, std::string_view characters) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (characters.find(c) != characters.npos) result += c;
  }
  return result;
}

std::string escaped_percent(std::string_view text) { return doubled(text, "%"); }
std::string escaped_braces(std::string_view text) { return doubled(text, "{}"); }

class PoReader {
 public:
  PoReader(DocumentContent& content, const KeepOptions& keep) : content_(content), keep_(keep) {}

  void read() {
    const std::string_view bytes = content_.bytes;
    if (bytes.find("\r\n") != bytes.npos) line_end_ = "\r\n";
    size_t at = bytes.size() - without_byte_order_mark(bytes).size();
    for (line_ = 1; at < bytes.size(); ++line_) {
      const size_t end = std::min(bytes.find('\n', at), bytes.size());
      read_line(at, end);
      at = end + 1;
    }
    end_entry();
  }

 private:
  /// The line of bytes `begin` to `end`.
  void read_line(size_t begin, size_t end) {
    const std::string_view line =
        trimmed(std::string_view(content_.bytes).substr(begin, end - begin));
    if (line.empty() || line.front() == '#') {
      if (last_ && is_translation(*last_)) end_entry();
      if (line.starts_with("#,")) read_flags(line.substr(2));
      return;
    }
    const auto at = static_cast<size_t>(line.data() - content_.bytes.data());
    const size_t quote = line.find('"');
    require_input(quote != line.npos && line.size() > quote + 1 && line.back() == '"',
                  "line {}: expected a string in quotes, found {}", line_, quoted(line));
    const ByteRange strings{at + quote, at + line.size()};
    const std::string text = decoded_string(line.substr(quote + 1, line.size() - quote - 2));
    if (quote == 0) {
      require_input(last_.has_value(), "line {}: a string without a keyword", line_);
      last_->text += text;
      last_->strings.end = strings.end;
      return;
    }
    begin_string({std::string(trimmed(line.substr(0, quote))), text, strings});
  }

  void read_flags(std::string_view line) {
    while (!line.empty()) {
      const size_t end = std::min(line.find(','), line.size());
      entry_.flags.emplace_back(trimmed(line.substr(0, end)));
      line.remove_prefix(std::min(end + 1, line.size()));
    }
  }

  static bool is_translation(const PoString& string) {
    return string.keyword.starts_with("msgstr");
  }

  void begin_string(PoString string) {
    static constexpr std::array<std::string_view, 4> kKeywords{"msgctxt", "msgid", "msgid_plural",
                                                               "msgstr"};
    const bool plural_form = string.keyword.starts_with("msgstr[") && string.keyword.ends_with("]");
    require_input(plural_form || std::ranges::find(kKeywords, string.keyword) != kKeywords.end(),
                  "line {}: expected msgid or msgstr, found {}", line_, quoted(string.keyword));
    if (last_ && is_translation(*last_) && !is_translation(string))
      end_entry();
    else
      end_string();
    last_ = std::move(string);
  }

  void end_string() {
    if (!last_) return;
    if (last_->keyword == "msgid") {
      entry_.id = last_->text;
      has_id_ = true;
    } else if (last_->keyword == "msgid_plural") {
      entry_.plural = last_->text;
    } else if (is_translation(*last_)) {
      require_input(has_id_, "line {}: {} without msgid", line_, last_->keyword);
      entry_.translations.push_back(*last_);
    }
    last_.reset();
  }

  void end_entry() {
    end_string();
    require_input(!has_id_ || !entry_.translations.empty(), "line {}: msgid without msgstr", line_);
    if (has_id_ && entry_.id.empty())
      check_header();
    else if (has_id_)
      add_entry();
    entry_ = {};
    has_id_ = false;
  }

  /// The header has an empty msgid and says which encoding the file has; a template, "CHARSET".
  void check_header() {
    constexpr std::string_view kCharset = "charset=";
    const PoString& header = entry_.translations.front();
    const size_t at = lower_case(header.text).find(kCharset);
    if (at == header.text.npos) return;
    const std::string rest = header.text.substr(at + kCharset.size());
    const std::string charset = rest.substr(0, rest.find_first_of("\n; "));
    const std::string lower = lower_case(charset);
    if (charset == "CHARSET") {
      const size_t place = content_.bytes.find("CHARSET", header.strings.begin);
      if (place < header.strings.end)
        content_.slots.push_back({{place, place + charset.size()}, {}, "UTF-8"});
      return;
    }
    require_input(lower == "utf-8" || lower == "utf8",
                  "line {}: the catalog says that it is {}, expected UTF-8", line_,
                  quoted(charset));
  }

  void add_entry() {
    const std::vector<PoString>& all = entry_.translations;
    if (!std::ranges::all_of(all, [](const PoString& string) { return string.text.empty(); }))
      return;
    std::string rest, plural_rest;
    std::vector<SlotPart> parts, plural_parts;
    // A language without a plural has one form, for any number.
    const bool one_form = !entry_.plural.empty() && all.size() == 1;
    if (!one_form) parts = parts_of(entry_.id, rest);
    if (!entry_.plural.empty()) plural_parts = parts_of(entry_.plural, plural_rest);
    for (size_t i = 0; i < all.size(); ++i) {
      const bool plural = one_form || i > 0;
      Slot slot{all[i].strings, plural ? plural_parts : parts, plural ? plural_rest : rest, {}};
      if (slot.parts.empty()) continue;
      slot.encode = [eol = line_end_](const std::string& text) {
        return encoded_string(text, eol);
      };
      content_.slots.push_back(std::move(slot));
    }
  }

  /// The lines of a message are segments.
  std::vector<SlotPart> parts_of(const std::string& message, std::string& rest) {
    std::vector<InlineToken> tokens;
    for (size_t at = 0; at < message.size();) {
      const size_t end = std::min(message.find('\n', at), message.size());
      const std::string line = message.substr(at, end - at);
      if (!line.empty()) tokens.push_back({InlineToken::Kind::text, line, line});
      if (end < message.size()) tokens.push_back({InlineToken::Kind::border, "\n"});
      at = end + 1;
    }
    return content_.add_parts(message, build_runs(tokens, rules()), rest);
  }

  RunRules rules() const {
    static constexpr std::array<std::string_view, 8> kPercent{
        "c-format",    "objc-format", "python-format", "php-format",
        "perl-format", "awk-format",  "lua-format",    "gcc-internal-format"};
    RunRules rules;
    rules.placeholders = {.common = keep_.placeholders, .numbers = keep_.numbers};
    rules.single_spaces = false;
    rules.placeholders.c_format =
        std::ranges::any_of(kPercent, [&](std::string_view f) { return entry_.has_flag(f); });
    rules.placeholders.braces = entry_.has_flag("python-brace-format");
    rules.escapes_placeholders = rules.placeholders.c_format || rules.placeholders.braces;
    if (rules.placeholders.c_format) rules.escape = escaped_percent;
    if (rules.placeholders.braces) rules.escape = escaped_braces;
    return rules;
  }

  std::string decoded_string(std::string_view text) const {
    static constexpr std::string_view kLetters = "ntrabfv\"\\", kMeant = "\n\t\r\a\b\f\v\"\\";
    std::string result;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '"') fail_input("line {}: a quote within a string", line_);
      if (text[i] != '\\') {
        result += text[i];
        continue;
      }
      ++i;
      const size_t letter = i < text.size() ? kLetters.find(text[i]) : kLetters.npos;
      require_input(letter != kLetters.npos, "line {}: \\{} is not known", line_,
                    one_line(text.substr(std::min(i, text.size()), 1)));
      result += kMeant[letter];
    }
    return result;
  }

  /// A string a line of the text, if it has several.
  static std::string encoded_string(const std::string& text, const std::string& line_end) {
    const size_t first = text.find('\n');
    const bool lines = first != text.npos && first + 1 < text.size();
    std::string result = lines ? "\"\"" + line_end + '"' : "\"";
    for (size_t i = 0; i < text.size(); ++i) {
      switch (text[i]) {
        case '"':
          result += "\\\"";
          break;
        case '\\':
          result += "\\\\";
          break;
        case '\t':
          result += "\\t";
          break;
        case '\r':
          result += "\\r";
          break;
        case '\n':
          result += "\\n";
          if (lines && i + 1 < text.size()) result += '"' + line_end + '"';
          break;
        default:
          result += text[i];
      }
    }
    return result + '"';
  }

  DocumentContent& content_;
  const KeepOptions keep_;
  std::string line_end_ = "\n";
  size_t line_ = 0;
  PoEntry entry_;
  bool has_id_ = false;
  std::optional<PoString> last_;
};

}  // namespace

void read_po(DocumentContent& content, const KeepOptions& keep) { PoReader(content, keep).read(); }

}  // namespace heed::document

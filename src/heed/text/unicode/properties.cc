#include "heed/text/unicode/properties.h"

#include <utf8proc.h>

#include <map>
#include <unordered_map>

#include "heed/base/ascii.h"
#include "heed/text/unicode/number_reader.h"
#include "heed/text/unicode/tables.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$";
constexpr std::array<std::string_view, 29> kCategories{
    "lu", "ll", "lt", "lm", "lo", "mn", "mc", "me", "nd", "nl", "no", "pc", "pd", "ps", "pe",
    "pi", "pf", "po", "sm", "sc", "sk", "so", "zs", "zl", "zp", "cc", "cf", "co", "cn"};

using Properties = std::map<std::string, CodePointRanges, std::less<>>;

void add_categories(Properties& properties) {
  tables::NumberReader runs(tables::general_category);
  char32_t start = 0;
  size_t category = kCategories.size();
  const auto end_run = [&](char32_t next) {
    if (next > start) properties[std::string(kCategories[category])].add(start, next - 1);
    start = next;
  };
  while (!runs.done()) {
    const char32_t next = start + runs.next();
    if (category < kCategories.size()) end_run(next);
    category = kLetters.find(runs.character());
  }
  end_run(CodePointRanges::kLast + 1);
  for (const std::string_view name : kCategories)
    properties[std::string(name.substr(0, 1))].add(properties[std::string(name)]);
  for (const char* name : {"lu", "ll", "lt"}) properties["lc"].add(properties[name]);
}

Properties make_properties() {
  Properties properties;
  add_categories(properties);
  const std::pair<const char*, std::string_view> scripts[] = {
      {"latin", tables::script_latin},       {"greek", tables::script_greek},
      {"cyrillic", tables::script_cyrillic}, {"hebrew", tables::script_hebrew},
      {"arabic", tables::script_arabic},     {"thai", tables::script_thai},
      {"hangul", tables::script_hangul},     {"hiragana", tables::script_hiragana},
      {"katakana", tables::script_katakana}, {"han", tables::script_han}};
  for (const auto& [name, edges] : scripts) properties[name] = CodePointRanges::from_table(edges);
  const std::pair<const char*, const char*> long_names[] = {{"letter", "l"},
                                                            {"mark", "m"},
                                                            {"number", "n"},
                                                            {"punctuation", "p"},
                                                            {"symbol", "s"},
                                                            {"separator", "z"},
                                                            {"other", "c"},
                                                            {"uppercaseletter", "lu"},
                                                            {"lowercaseletter", "ll"},
                                                            {"titlecaseletter", "lt"},
                                                            {"modifierletter", "lm"},
                                                            {"otherletter", "lo"},
                                                            {"decimalnumber", "nd"},
                                                            {"digit", "nd"},
                                                            {"nonspacingmark", "mn"},
                                                            {"spacingmark", "mc"},
                                                            {"enclosingmark", "me"}};
  for (const auto& [name, category] : long_names) properties[name] = properties[category];
  properties["any"] = CodePointRanges::all();
  return properties;
}

/// Membership in a set of unicode/tables.h.
template <const std::string_view& edges>
bool is_in(char32_t value) {
  static const CharSet set(CodePointRanges::from_table(edges));
  return set.contains(value);
}

std::unordered_map<char32_t, char32_t> newer_lower_case() {
  std::unordered_map<char32_t, char32_t> pairs;
  for (tables::NumberReader numbers(tables::lower_case); !numbers.done();) {
    const char32_t upper = numbers.next();
    pairs[upper] = numbers.next();
  }
  return pairs;
}

}  // namespace

bool is_white_space(char32_t value) {
  if (value < 0x80) return value == ' ' || (value >= '\t' && value <= '\r');
  return is_in<tables::regex_space>(value);
}

bool is_word(char32_t value) { return is_in<tables::word>(value); }

bool is_numeric(char32_t value) { return is_in<tables::numeric>(value); }

bool is_punctuation(char32_t value) { return is_in<tables::punctuation>(value); }

bool is_control(char32_t value) { return is_in<tables::control>(value); }

bool is_nonspacing_mark(char32_t value) { return is_in<tables::nonspacing_mark>(value); }

bool is_combining_mark(char32_t value) { return is_in<tables::combining_mark>(value); }

bool is_inert(char32_t value) { return is_in<tables::inert>(value); }

void append_lower_case(std::string& text, char32_t value) {
  constexpr char32_t kCapitalIWithDot = 0x130, kDotAbove = 0x307;
  if (value < 0x80) {
    text.push_back(static_cast<char>(value >= 'A' && value <= 'Z' ? value + 32 : value));
  } else if (value == kCapitalIWithDot) {
    text.push_back('i');
    append_utf8(text, kDotAbove);
  } else {
    static const auto newer = newer_lower_case();
    const auto found = newer.find(value);
    const auto lower = utf8proc_tolower(static_cast<utf8proc_int32_t>(value));
    append_utf8(text, found != newer.end() ? found->second : static_cast<char32_t>(lower));
  }
}

void append_title_case(std::string& text, char32_t value) {
  append_utf8(text, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(value))));
}

std::optional<CodePointRanges> property_named(std::string_view name) {
  static const Properties properties = make_properties();
  std::string plain = lower_case(name);
  std::erase_if(plain, [](char c) { return c == ' ' || c == '-' || c == '_'; });
  const auto found = properties.find(plain);
  if (found == properties.end()) return std::nullopt;
  return found->second;
}

}  // namespace heed::text

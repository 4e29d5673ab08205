// The formats of JSON Schema Validation 2020-12, section 7.3, as regular expressions.
#include <fmt/format.h>

#include <array>

#include "heed/constrain/schema/keywords.h"

namespace heed::constrain {
namespace {

using namespace std::string_literals;

std::string any_of(std::initializer_list<std::string> choices) {
  return fmt::format("(?:{})", fmt::join(choices, "|"));
}

// RFC 3339, section 5.6. Year 0 is left out: few libraries know it.
std::string date() {
  const std::string day = "(?:0[1-9]|1[0-9]|2[0-8])";
  const std::string leap = "(?:0[48]|[2468][048]|[13579][26])";
  const std::string year = "(?:[1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])";
  const std::string day_of_year =
      any_of({"(?:0[1-9]|1[0-2])-" + day, "(?:0[13-9]|1[0-2])-(?:29|30)", "(?:0[13578]|1[02])-31"});
  const std::string leap_year = any_of({"[0-9]{2}" + leap, leap + "00"});
  return any_of({year + "-" + day_of_year, leap_year + "-02-29"});
}

// Whether there may be a leap second depends on the time zone and the minute.
constexpr const char* kLeapSecond = "|60";
std::string time(std::string_view leap_second) {
  return fmt::format(
      "(?:[01][0-9]|2[0-3]):[0-5][0-9]:(?:[0-5][0-9]{})(?:\\.[0-9]+)?"
      "(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])",
      leap_second);
}

// RFC 3339, appendix A.
std::string duration() {
  const std::string minute = "[0-9]+M(?:[0-9]+S)?", month = "[0-9]+M(?:[0-9]+D)?";
  const std::string time = "T" + any_of({"[0-9]+S", minute, fmt::format("[0-9]+H(?:{})?", minute)});
  const std::string date = any_of({"[0-9]+D", month, fmt::format("[0-9]+Y(?:{})?", month)});
  return "P" + any_of({fmt::format("{}(?:{})?", date, time), time, "[0-9]+W"});
}

std::string ipv4() {
  const std::string octet = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
  return fmt::format("(?:{}\\.){{3}}{}", octet, octet);
}

// RFC 3986, appendix A: IPv6address.
std::string ipv6() {
  const std::string group = "[0-9A-Fa-f]{1,4}";
  const std::string last = any_of({group + ":" + group, ipv4()});
  std::string choices = fmt::format("(?:{}:){{6}}{}", group, last);
  for (int behind = 5; behind >= -2; --behind) {  // groups behind "::" beside the last 32 bits
    const std::string before =
        behind == 5 ? ""s : fmt::format("(?:(?:{}:){{0,{}}}{})?", group, 4 - behind, group);
    std::string rest = behind > 0 ? fmt::format("(?:{}:){{{}}}{}", group, behind, last) : last;
    if (behind == -1) rest = group;
    if (behind == -2) rest = "";
    choices += fmt::format("|{}::{}", before, rest);
  }
  return fmt::format("(?:{})", choices);
}

// RFC 1123 and RFC 5890. A label with "--" in third place is left out: it may be Punycode.
std::string label(std::string_view letters) {
  const std::string letter = fmt::format("[{}]", letters), any = fmt::format("[{}-]", letters);
  return fmt::format("{0}(?:{1}{{0,2}}{0}|{1}(?:{0}{1}|-{0}){1}{{0,58}}{0})?", letter, any);
}
std::string hostname(std::string_view letters) {
  return fmt::format("(?=.{{1,253}}$){0}(?:\\.{0})*", label(letters));
}

// RFC 5321, section 4.1.2: Mailbox; RFC 6531 adds what `beyond` has.
std::string email(const std::string& beyond) {
  const std::string atom = fmt::format("[A-Za-z0-9!#$%&'*+\\-/=?^_`{{|}}~{}]+", beyond);
  const std::string quoted = fmt::format("\"(?:[ !#-\\[\\]-~{}]|\\\\[ -~])*\"", beyond);
  const std::string letters = "A-Za-z0-9" + beyond;
  const std::string sub_domain = fmt::format("[{0}](?:[{0}-]*[{0}])?", letters);
  return fmt::format("(?:{0}(?:\\.{0})*|{1})@(?:{2}(?:\\.{2})*|\\[{3}\\]|\\[IPv6:{4}\\])", atom,
                     quoted, sub_domain, ipv4(), ipv6());
}

// RFC 3986, appendix A; RFC 3987 adds what `beyond` has to the unreserved characters, and
// `beyond_query` to those of a query.
std::string uri(bool is_reference, const std::string& beyond, const std::string& beyond_query) {
  const auto characters = [&](std::string_view further) {
    return fmt::format("(?:[A-Za-z0-9\\-._~!$&'()*+,;={}{}]|%[0-9A-Fa-f]{{2}})", beyond, further);
  };
  const std::string character = characters(":@");
  const std::string ip_literal =
      fmt::format("\\[(?:{}|[vV][0-9A-Fa-f]+\\.[A-Za-z0-9\\-._~!$&'()*+,;=:]+)\\]", ipv6());
  const std::string authority =
      fmt::format("(?:{}*@)?(?:{}|{}*)(?::[0-9]*)?", characters(":"), ip_literal, characters(""));
  const std::string segments = fmt::format("(?:/{}*)*", character);
  const std::string absolute = fmt::format("/(?:{}+{})?", character, segments);
  const auto hierarchy = [&](const std::string& rootless) {
    return fmt::format("(?://{}{}|{}|{}{}|)", authority, segments, absolute, rootless, segments);
  };
  const std::string full = fmt::format("[A-Za-z][A-Za-z0-9+\\-.]*:{}", hierarchy(character + "+"));
  const std::string relative = hierarchy(characters("@") + "+");
  return fmt::format("{}(?:\\?{}*)?(?:#{}*)?", is_reference ? any_of({full, relative}) : full,
                     characters(":@/?" + beyond_query), characters(":@/?"));
}

// RFC 3987, section 2.2: ucschar and iprivate.
constexpr const char* kIriCharacters =
    "\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF\\u{10000}-\\u{1FFFD}\\u{20000}-\\u{2FFFD}"
    "\\u{30000}-\\u{3FFFD}\\u{40000}-\\u{4FFFD}\\u{50000}-\\u{5FFFD}\\u{60000}-\\u{6FFFD}"
    "\\u{70000}-\\u{7FFFD}\\u{80000}-\\u{8FFFD}\\u{90000}-\\u{9FFFD}\\u{A0000}-\\u{AFFFD}"
    "\\u{B0000}-\\u{BFFFD}\\u{C0000}-\\u{CFFFD}\\u{D0000}-\\u{DFFFD}\\u{E1000}-\\u{EFFFD}";
constexpr const char* kIriPrivate = "\\uE000-\\uF8FF\\u{F0000}-\\u{FFFFD}\\u{100000}-\\u{10FFFD}";
// Letters that every edition of IDNA allows in any place: syllables of Hangul, kana, Han.
constexpr const char* kIdnLetters = "\\uAC00-\\uD7A3\\u3041-\\u3096\\u30A1-\\u30FA\\u4E00-\\u9FA5";

// RFC 6901.
std::string json_pointer() { return "(?:/(?:[^~/]|~[01])*)*"; }

// RFC 6570, section 2.
std::string uri_template() {
  const std::string name = "(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})";
  const std::string variable = fmt::format("{0}(?:\\.?{0})*(?::[1-9][0-9]{{0,3}}|\\*)?", name);
  return fmt::format(
      "(?:[!#$&-;=?-\\[\\]_a-z~{}{}]|%[0-9A-Fa-f]{{2}}|"
      "\\{{[+#./;?&=,!@|]?{}(?:,{})*\\}})*",
      kIriCharacters, kIriPrivate, variable, variable);
}

// A regular expression whose groups have at most two levels, without the rarer escapes.
std::string regex() {
  const std::string atom =
      "(?:[^\\\\^$.*+?()\\[\\]{}|/]|/|\\.|\\\\[dDsSwWfnrtv^$.*+?()\\[\\]{}|/\\\\-]|"
      "\\[\\^?(?:[^\\\\\\[\\]\\-^]|\\\\[dDsSwWfnrtv^$.*+?()\\[\\]{}|/\\\\-]|"
      "[0-9]-9|[a-z]-z|[A-Z]-Z)*\\])";
  // {m,n} with m <= n.
  const std::string count =
      "(?:[0-9]{1,3},?|[0-9],[1-9][0-9]{1,2}|[0-9]{2},[1-9][0-9]{2}|0,[0-9]|1,[1-9]|[2-5],[5-9]|"
      "[2-9],9|2,[2-4]|3,[34]|4,4)";
  const std::string quantifier = fmt::format("(?:(?:[*+?]|\\{{{}\\}})[?]?)?", count);
  const auto sequence = [&](const std::string& inner) {
    const std::string part = fmt::format("(?:{}{}|\\^|\\$|\\\\b)", inner, quantifier);
    return fmt::format("{0}*(?:\\|{0}*)*", part);
  };
  const auto group = [&](const std::string& inner) {
    return any_of({atom, fmt::format("\\((?:\\?:)?{}\\)", sequence(inner))});
  };
  return sequence(group(group(atom)));
}

}  // namespace

FormatPattern format_pattern(std::string_view format) {
  static constexpr const char* kLetters = "A-Za-z0-9";
  static constexpr const char* kAnyText = "[^]*";
  const std::string idn_letters = kLetters + std::string(kIdnLetters);
  if (format == "date") return {date()};
  if (format == "time") return {time(""), time(kLeapSecond)};
  if (format == "date-time") {
    return {date() + "[Tt]" + time(""), "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt]" + time(kLeapSecond)};
  }
  if (format == "duration") return {duration()};
  if (format == "ipv4") return {ipv4()};
  if (format == "ipv6") return {ipv6()};
  if (format == "hostname") return {hostname(kLetters), "[A-Za-z0-9.-]*"};
  if (format == "idn-hostname") return {hostname(idn_letters), kAnyText};
  if (format == "email") return {email("")};
  if (format == "idn-email") return {email(kIdnLetters), kAnyText};
  if (format == "uri") return {uri(false, "", "")};
  if (format == "uri-reference") return {uri(true, "", "")};
  if (format == "iri") return {uri(false, kIriCharacters, kIriPrivate)};
  if (format == "iri-reference") return {uri(true, kIriCharacters, kIriPrivate)};
  if (format == "uri-template") return {uri_template()};
  if (format == "json-pointer") return {json_pointer()};
  if (format == "relative-json-pointer") {
    return {"(?:0|[1-9][0-9]*)(?:#|" + json_pointer() + ")"};
  }
  if (format == "uuid") return {"[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}"};
  if (format == "regex") return {regex(), kAnyText};
  return {};
}

}  // namespace heed::constrain

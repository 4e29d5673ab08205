#include "heed/text/html_references.h"

#include <algorithm>
#include <array>

namespace heed::text {
namespace {

constexpr size_t kLongest = 32;  // more than the longest name of HTML

/// The names of U+00A0 to U+00FF.
constexpr std::string_view kLatin1 =
    "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn "
    "sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave "
    "Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml "
    "ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN "
    "szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave "
    "iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute "
    "ucirc "
    "uuml yacute thorn yuml";

struct NamedCharacter {
  std::string_view name;
  char32_t character;
};
constexpr std::array kOthers{
    NamedCharacter{"quot", U'"'},     NamedCharacter{"amp", U'&'},
    NamedCharacter{"apos", U'\''},    NamedCharacter{"lt", U'<'},
    NamedCharacter{"gt", U'>'},       NamedCharacter{"OElig", 0x152},
    NamedCharacter{"oelig", 0x153},   NamedCharacter{"Scaron", 0x160},
    NamedCharacter{"scaron", 0x161},  NamedCharacter{"Yuml", 0x178},
    NamedCharacter{"ensp", 0x2002},   NamedCharacter{"emsp", 0x2003},
    NamedCharacter{"thinsp", 0x2009}, NamedCharacter{"ndash", 0x2013},
    NamedCharacter{"mdash", 0x2014},  NamedCharacter{"lsquo", 0x2018},
    NamedCharacter{"rsquo", 0x2019},  NamedCharacter{"sbquo", 0x201A},
    NamedCharacter{"ldquo", 0x201C},  NamedCharacter{"rdquo", 0x201D},
    NamedCharacter{"bdquo", 0x201E},  NamedCharacter{"dagger", 0x2020},
    NamedCharacter{"bull", 0x2022},   NamedCharacter{"hellip", 0x2026},
    NamedCharacter{"permil", 0x2030}, NamedCharacter{"lsaquo", 0x2039},
    NamedCharacter{"rsaquo", 0x203A}, NamedCharacter{"euro", 0x20AC},
    NamedCharacter{"trade", 0x2122},  NamedCharacter{"larr", 0x2190},
    NamedCharacter{"rarr", 0x2192},   NamedCharacter{"minus", 0x2212},
};

std::optional<char32_t> character_named(std::string_view name) {
  char32_t character = 0xA0;
  for (std::string_view rest = kLatin1; !rest.empty(); ++character) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == name) return character;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  const auto* const found = std::ranges::find(kOthers, name, &NamedCharacter::name);
  return found == kOthers.end() ? std::nullopt : std::optional(found->character);
}

bool is_digit_in(char c, bool hexadecimal) {
  return (c >= '0' && c <= '9') ||
         (hexadecimal && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}

/// Of the digits of a number; none: no character of a text.
std::optional<char32_t> character_numbered(std::string_view digits, bool hexadecimal) {
  char32_t value = 0;
  for (const char c : digits) {
    const int digit = c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
    value = value * (hexadecimal ? 16 : 10) + static_cast<char32_t>(digit);
    if (value > 0x10FFFF) return std::nullopt;
  }
  // Controls (for which browsers take characters of Windows) and surrogates.
  const bool control = value < 0x20 || (value >= 0x7F && value < 0xA0);
  const bool surrogate = value >= 0xD800 && value < 0xE000;
  return control || surrogate ? std::nullopt : std::optional(value);
}

}  // namespace

HtmlReference read_html_reference(std::string_view html) {
  const size_t end = html.substr(0, kLongest).find(';');
  if (!html.starts_with('&') || end == html.npos || end < 2) return {};
  std::string_view name = html.substr(1, end - 1);
  if (name.front() != '#') {
    const bool letters = std::ranges::all_of(name, [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    });
    if (!letters) return {};
    return {end + 1, character_named(name)};
  }
  name.remove_prefix(1);
  const bool hexadecimal = name.starts_with('x') || name.starts_with('X');
  if (hexadecimal) name.remove_prefix(1);
  const bool digits = !name.empty() && std::ranges::all_of(name, [&](char c) {
    return is_digit_in(c, hexadecimal);
  });
  if (!digits) return {};
  return {end + 1, character_numbered(name, hexadecimal)};
}

}  // namespace heed::text

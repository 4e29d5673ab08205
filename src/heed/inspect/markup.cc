#include "heed/inspect/markup.h"

#include <cstdint>
#include <set>

#include "heed/base/display.h"
#include "heed/base/error.h"

namespace heed::inspect {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string json_in_html(std::string json) {
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&') {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string fill_template(std::string_view page, const std::map<std::string, std::string>& values) {
  std::string out;
  std::set<std::string> used;
  for (size_t at = 0; at < page.size();) {
    const size_t open = page.find("{{", at);
    out += page.substr(at, open == page.npos ? page.npos : open - at);
    if (open == page.npos) break;
    const size_t close = page.find("}}", open);
    require(close != page.npos, "a page template has an unclosed {{{{");
    const std::string name(page.substr(open + 2, close - open - 2));
    const auto value = values.find(name);
    require(value != values.end(), "a page template contains {{{{{}}}}}, which has no value", name);
    out += value->second;
    used.insert(name);
    at = close + 2;
  }
  for (const auto& [name, value] : values)
    require(used.contains(name), "a page template does not contain {{{{{}}}}}", name);
  return out;
}

}  // namespace heed::inspect

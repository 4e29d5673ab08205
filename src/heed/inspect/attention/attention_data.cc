#include "heed/inspect/attention/attention_data.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "heed/base/base64.h"
#include "heed/base/display.h"
#include "heed/base/json.h"
#include "heed/inspect/attention/palette.h"
#include "heed/inspect/markup.h"

namespace heed::inspect {
namespace {

constexpr size_t kElementBytes = 100;  // estimate, of the element around the weights of a head

nlohmann::json printable_all(const std::vector<std::string>& tokens) {
  nlohmann::json list = nlohmann::json::array();
  for (const std::string& token : tokens) list.push_back(printable(token));
  return list;
}

nlohmann::json description(const AttentionCapture& capture) {
  nlohmann::json maps = nlohmann::json::array();
  for (const PackedAttention::Map& map : capture.weights.maps)
    maps.push_back(
        {{"kind", name_of(map.kind)}, {"layer", map.layer}, {"heads", map.heads.size()}});
  return {{"source", printable_all(capture.texts.source_tokens)},
          {"target", printable_all(capture.texts.target_tokens)},
          {"floor", capture.weights.floor},
          {"missing", capture.weights.missing},
          {"colours", kHeadColours},
          {"maps", maps}};
}

}  // namespace

std::string attention_data(const AttentionCapture& capture) {
  check(capture);
  std::string html = fmt::format(
      "<div class=\"attention\" tabindex=\"0\">\n"
      "<script type=\"application/json\" class=\"capture\">{}</script>\n",
      json_in_html(dump_json(description(capture), {.ascii = true})));
  size_t bytes = html.size();
  for (const PackedAttention::Map& map : capture.weights.maps)
    for (const std::string& head : map.heads) bytes += kElementBytes + head.size() * 4 / 3;
  html.reserve(bytes);
  for (const PackedAttention::Map& map : capture.weights.maps)
    for (size_t head = 0; head < map.heads.size(); ++head) {
      html += fmt::format("<script type=\"text/plain\" data-map=\"{}/{}/{}\">", name_of(map.kind),
                          map.layer, head);
      html += encode_base64(map.heads[head]);
      html += "</script>\n";
    }
  html += "</div>\n";
  return html;
}

}  // namespace heed::inspect

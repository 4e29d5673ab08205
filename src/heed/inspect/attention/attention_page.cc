#include "heed/inspect/attention/attention_page.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "heed/base/base64.h"
#include "heed/base/display.h"
#include "heed/base/json.h"
#include "heed/inspect/attention/palette.h"
#include "heed/inspect/markup.h"
#include "heed/inspect/page_parts.h"

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
  for (const EncodedAttention::Map& map : capture.weights.maps)
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

std::string attention_element(const AttentionCapture& capture) {
  check(capture);
  std::string html = fmt::format(
      "<div class=\"attention\" tabindex=\"0\">\n"
      "<script type=\"application/json\" class=\"capture\">{}</script>\n",
      json_in_html(dump_json(description(capture), {.ascii = true})));
  size_t bytes = html.size();
  for (const EncodedAttention::Map& map : capture.weights.maps)
    for (const std::string& head : map.heads) bytes += kElementBytes + head.size() * 4 / 3;
  html.reserve(bytes);
  for (const EncodedAttention::Map& map : capture.weights.maps)
    for (size_t head = 0; head < map.heads.size(); ++head) {
      html += fmt::format("<script type=\"text/plain\" data-map=\"{}/{}/{}\">", name_of(map.kind),
                          map.layer, head);
      html += encode_base64(map.heads[head]);
      html += "</script>\n";
    }
  html += "</div>\n";
  return html;
}

std::string attention_page(const AttentionCapture& capture) {
  const AttentionTexts& texts = capture.texts;
  const bool both = !texts.source_tokens.empty() && !texts.target_tokens.empty();
  std::string sentences;
  for (const auto& [side, text] :
       {std::pair{"Source", &texts.source_text}, std::pair{"Target", &texts.target_text}})
    if (!text->empty())
      sentences +=
          fmt::format("<p><span class=\"side\">{}</span><span dir=\"auto\">{}</span></p>\n",
                      both ? side : "Text", escaped(*text));
  const std::string title =
      texts.model_name.empty() ? "Attention" : "Attention of " + texts.model_name;
  return fill_template(page::attention_html,
                       {{"title", escaped(title)},
                        {"sentences", sentences},
                        {"style", std::string(page::base_css) + std::string(page::attention_css)},
                        {"data", attention_element(capture)},
                        {"script", std::string(page::attention_js)}});
}

}  // namespace heed::inspect

#include "heed/inspect/attention/attention_page.h"

#include <utility>

#include "heed/inspect/attention/attention_data.h"
#include "heed/inspect/markup.h"
#include "heed/inspect/page_parts.h"

namespace heed::inspect {

std::string attention_script() {
  std::string script;
  for (const std::string_view part :
       {page::elements_js, page::attention_data_js, page::attention_sheet_js,
        page::attention_lines_js, page::attention_heatmap_js, page::attention_controls_js,
        page::attention_panel_js, page::attention_view_js})
    script += part;
  return script;
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
  return filled(page::attention_html,
                {{"title", escaped(title)},
                 {"sentences", sentences},
                 {"style", std::string(page::base_css) + std::string(page::attention_css)},
                 {"data", attention_data(capture)},
                 {"script", attention_script()}});
}

}  // namespace heed::inspect

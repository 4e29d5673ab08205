#pragma once

#include <string_view>

/// The files of inspect/page, embedded by cmake/EmbedText.cmake.
namespace heed::inspect::page {

extern const std::string_view base_css, attention_css, figures_css, report_css, review_css;
extern const std::string_view attention_html, report_html, review_html;
extern const std::string_view elements_js, attention_data_js, attention_sheet_js,
    attention_lines_js, attention_heatmap_js, attention_controls_js, attention_panel_js,
    attention_view_js, report_chart_js, report_view_js;

}  // namespace heed::inspect::page

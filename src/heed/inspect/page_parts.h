#pragma once

#include <string>
#include <string_view>

/// The text files of inspect/page, embedded by cmake/EmbedText.cmake under their names.
namespace heed::inspect::page {

extern const std::string_view base_css, attention_css, report_css;
extern const std::string_view attention_html, report_html;
extern const std::string_view attention_data_js, attention_sheet_js, attention_lines_js,
    attention_heatmap_js, attention_view_js, report_chart_js, report_view_js;

}  // namespace heed::inspect::page

namespace heed::inspect {

/// The script that draws every capture of a page written by attention_data().
std::string attention_script();

}  // namespace heed::inspect

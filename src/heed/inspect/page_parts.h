#pragma once

#include <string_view>

/// The files of inspect/page, embedded by cmake/EmbedText.cmake.
namespace heed::inspect::page {

extern const std::string_view base_css, attention_css, figures_css, report_css, review_css;
extern const std::string_view attention_html, report_html, review_html;
/// The attention view; it leaves to a page which elements are shown.
extern const std::string_view attention_js;
extern const std::string_view report_chart_js, report_view_js;

}  // namespace heed::inspect::page

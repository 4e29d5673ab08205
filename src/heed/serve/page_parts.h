#pragma once

#include <string_view>

/// What the server's page is made of, embedded by cmake/EmbedText.cmake: page_html is a template
/// for the others, which hold the files of serve/page and the attention view of inspect/page.
namespace heed::serve::page {

extern const std::string_view page_html, page_script_js, page_style_css;

}  // namespace heed::serve::page

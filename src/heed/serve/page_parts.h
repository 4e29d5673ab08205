#pragma once

#include <string_view>

/// The files of serve/page, embedded by cmake/EmbedText.cmake.
namespace heed::serve::page {

extern const std::string_view page_css, page_html;
extern const std::string_view attend_js, chat_js, choices_js, copy_js, languages_js, load_js,
    metrics_js, models_js, page_js, panel_js, server_js, theme_js, translate_js, turn_js, words_js;

}  // namespace heed::serve::page

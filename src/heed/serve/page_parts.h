#pragma once

#include <string_view>

/// The files of serve/page, embedded by cmake/EmbedText.cmake.
namespace heed::serve::page {

extern const std::string_view page_css, page_html;
extern const std::string_view answer_js, attachments_js, attend_js, chart_js, chat_js,
    chat_settings_js, choices_js, context_meter_js, conversation_js, copy_js, export_js, history_js,
    languages_js, load_js, markdown_blocks_js, markdown_inline_js, markdown_js, metrics_js,
    models_js, numbers_js, page_js, panel_js, question_js, sentences_js, server_js,
    source_editor_js, text_lines_js, theme_js, translate_js, versions_js;

}  // namespace heed::serve::page

#include "heed/serve/web_page.h"

#include <fmt/format.h>

#include <random>

#include "heed/base/base64.h"
#include "heed/inspect/attention/attention_page.h"
#include "heed/inspect/markup.h"
#include "heed/inspect/page_parts.h"
#include "heed/serve/page_parts.h"

namespace heed::serve {
namespace {

constexpr int kNonceWords = 4;  // of 32 bits

std::string style() {
  std::string style;
  for (const std::string_view part : {inspect::page::base_css, inspect::page::attention_css,
                                      inspect::page::figures_css, page::page_css})
    style += part;
  return style;
}

std::string script() {
  std::string script = inspect::attention_script();
  for (const std::string_view part :
       {page::theme_js,           page::copy_js,          page::numbers_js,
        page::server_js,          page::models_js,        page::panel_js,
        page::languages_js,       page::text_lines_js,    page::source_editor_js,
        page::sentences_js,       page::translate_js,     page::markdown_inline_js,
        page::markdown_blocks_js, page::markdown_js,      page::choices_js,
        page::versions_js,        page::conversation_js,  page::attachments_js,
        page::question_js,        page::answer_js,        page::export_js,
        page::context_meter_js,   page::chat_settings_js, page::chat_js,
        page::attend_js,          page::metrics_js,       page::history_js,
        page::chart_js,           page::load_js,          page::page_js})
    script += part;
  return script;
}

/// A line of a script without the spaces around its operators. One with quotes may have them in a
/// text and stays as it is, and so do lines of elements.
std::string without_spaces(std::string_view line) {
  std::string out(line);
  if (line.starts_with('<') || line.find_first_of("\"'`") != line.npos) return out;
  for (const auto& [from, to] : {std::pair{" => ", "=>"},
                                 {" === ", "==="},
                                 {" = ", "="},
                                 {") {", "){"},
                                 {", ", ","},
                                 {" && ", "&&"},
                                 {" || ", "||"},
                                 {" * ", "*"},
                                 {" ? ", "?"},
                                 {" : ", ":"},
                                 {"; ", ";"},
                                 {" < ", "<"}})
    for (size_t at = out.find(from); at != out.npos; at = out.find(from, at + 1))
      out.replace(at, std::string_view(from).size(), to);
  return out;
}

/// Without indentation, empty lines and comments, which only those who edit it need. A comment
/// behind code is one if it has no quotes, so that it cannot be a part of a text.
std::string compact(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const size_t comment = line.rfind(" // ");
    if (comment != line.npos && line.find_first_of("\"'`", comment) == line.npos)
      line = line.substr(0, line.find_last_not_of(' ', comment) + 1);
    if (line.empty() || line.starts_with("//")) continue;
    out += without_spaces(line);
    out += '\n';
  }
  return out;
}

/// A style sheet without the spaces that separate nothing.
std::string compact_style(std::string style) {
  for (const auto& [from, to] :
       {std::pair{" { ", "{"}, {" {\n", "{"}, {"; }", "}"}, {"; ", ";"}, {": ", ":"}})
    for (size_t at = style.find(from); at != style.npos; at = style.find(from, at))
      style.replace(at, std::string_view(from).size(), to);
  return style;
}

/// A number that no other answer has: what a browser runs must bear it.
std::string make_nonce() {
  std::random_device random;
  std::string bytes;
  for (int i = 0; i < kNonceWords; ++i) {
    const uint32_t word = random();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return encode_base64(bytes);
}

}  // namespace

HttpResponse web_page() {
  static const std::string page = compact(inspect::fill_template(
      page::page_html,
      {{"style", compact_style(style())}, {"script", script()}, {"nonce", "{{nonce}}"}}));
  const std::string nonce = make_nonce();
  const std::string policy = fmt::format(
      "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src 'self'; "
      "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      nonce);
  return {.content_type = "text/html; charset=utf-8",
          .body = inspect::fill_template(page, {{"nonce", nonce}}),
          .headers = {{"Content-Security-Policy", policy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cache-Control", "no-store"}}};
}

}  // namespace heed::serve

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
       {page::theme_js, page::copy_js, page::server_js, page::models_js, page::panel_js,
        page::languages_js, page::words_js, page::translate_js, page::choices_js, page::turn_js,
        page::chat_js, page::attend_js, page::metrics_js, page::load_js, page::page_js})
    script += part;
  return script;
}

/// Without indentation, empty lines and lines of comments, which only those who edit it need.
std::string compact(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    if (line != "\n" && !line.starts_with("//")) out += line;
  }
  return out;
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
      page::page_html, {{"style", style()}, {"script", script()}, {"nonce", "{{nonce}}"}}));
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

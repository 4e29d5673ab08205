#include "heed/serve/web_page.h"

#include <fmt/format.h>

#include <random>

#include "heed/base/base64.h"
#include "heed/inspect/markup.h"
#include "heed/serve/page_parts.h"

namespace heed::serve {
namespace {

constexpr int kNonceWords = 4;  // of 32 bits

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
  const std::string nonce = make_nonce();
  const std::string policy = fmt::format(
      "default-src 'none'; script-src 'nonce-{0}'; style-src 'nonce-{0}'; connect-src 'self'; "
      "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      nonce);
  return {.content_type = "text/html; charset=utf-8",
          .body = inspect::fill_template(page::page_html,
                                         {{"style", std::string(page::page_style_css)},
                                          {"script", std::string(page::page_script_js)},
                                          {"nonce", nonce}}),
          .headers = {{"Content-Security-Policy", policy},
                      {"X-Content-Type-Options", "nosniff"},
                      {"Referrer-Policy", "no-referrer"},
                      {"Cross-Origin-Opener-Policy", "same-origin"},
                      {"Cache-Control", "no-store"}}};
}

}  // namespace heed::serve

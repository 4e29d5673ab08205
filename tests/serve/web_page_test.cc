#include "heed/serve/web_page.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/inspect/page_checks.h"

namespace heed::serve {
namespace {

using inspect::between;

std::string header_of(const HttpResponse& response, std::string_view name) {
  const auto found =
      std::ranges::find(response.headers, name, [](const auto& h) { return h.first; });
  return found == response.headers.end() ? "" : found->second;
}

size_t count(std::string_view text, std::string_view part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(WebPage, HasAtMost150KB) {
  const HttpResponse page = web_page();
  EXPECT_EQ(page.content_type, "text/html; charset=utf-8");
  if (!HEED_PAGE_IS_MINIFIED) GTEST_SKIP() << "there was no esbuild when this was built";
  EXPECT_LE(page.body.size(), 150'000u);
}

TEST(WebPage, RefersToNoOtherHostAndNoFile) {
  const std::string page = web_page().body;
  for (const char* reference : {"http:", "https:", " src=", "@import", "import(", "url(", "<iframe",
                                "<img", "srcset", "WebSocket", "EventSource", "sendBeacon"})
    EXPECT_EQ(count(page, reference), 0u) << reference;
  // Its icon is part of it.
  EXPECT_EQ(count(page, "<link "), 1u);
  EXPECT_EQ(count(page, "<link rel=\"icon\" href=\"data:"), 1u);
}

TEST(WebPage, AllowsOnlyItsOwnScriptAndStyle) {
  const HttpResponse page = web_page();
  const std::string policy = header_of(page, "Content-Security-Policy");
  const std::string nonce = between(policy, "script-src 'nonce-", "'");
  EXPECT_GE(nonce.size(), 22u);  // 128 bits in base64
  EXPECT_EQ(policy,
            "default-src 'none'; script-src 'nonce-" + nonce + "'; style-src 'nonce-" + nonce +
                "'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
                "frame-ancestors 'none'");
  EXPECT_EQ(count(page.body, "<script nonce=\"" + nonce + "\">"), 1u);
  EXPECT_EQ(count(page.body, "<style nonce=\"" + nonce + "\">"), 1u);
  EXPECT_EQ(count(page.body, "<script"), 1u);
  EXPECT_EQ(count(page.body, "<style"), 1u);
  EXPECT_EQ(count(page.body, "{{"), 0u);
}

TEST(WebPage, HasANonceThatIsNeverUsedAgain) {
  EXPECT_NE(header_of(web_page(), "Content-Security-Policy"),
            header_of(web_page(), "Content-Security-Policy"));
  EXPECT_EQ(header_of(web_page(), "Cache-Control"), "no-store");
}

TEST(WebPage, TellsBrowsersToKeepToItsTypeAndToSendNoReferrer) {
  const HttpResponse page = web_page();
  EXPECT_EQ(header_of(page, "X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(header_of(page, "Referrer-Policy"), "no-referrer");
}

// What a model or a server says must stay text, and a policy without 'unsafe-inline' and
// 'unsafe-eval' would stop the rest.
TEST(WebPage, NeverTurnsTextIntoMarkupOrCode) {
  const std::string page = web_page().body;
  for (const char* way :
       {"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function",
        "srcdoc", "javascript:", " onclick=", " onload=", " onsubmit=", " oninput=", " style=\""})
    EXPECT_EQ(count(page, way), 0u) << way;
}

}  // namespace
}  // namespace heed::serve

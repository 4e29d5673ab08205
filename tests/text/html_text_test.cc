#include "heed/text/html_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace heed::text {
namespace {

using Texts = std::vector<std::string>;

/// The HTML with its texts in capitals.
std::string with_capitals(const std::string& html) {
  const HtmlText read(html);
  Texts texts = read.texts();
  for (std::string& text : texts)
    std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return read.with(texts);
}

TEST(HtmlText, TagsAttributesAndCommentsStay) {
  EXPECT_EQ(with_capitals("<p>Hello <b class=\"x>y\" title='a'>world</b>!<!-- no --></p>"),
            "<p>HELLO <b class=\"x>y\" title='a'>WORLD</b>!<!-- no --></p>");
  EXPECT_EQ(with_capitals("<!DOCTYPE html><a href=x title=it's>one</a><br/>two"),
            "<!DOCTYPE html><a href=x title=it's>ONE</a><br/>TWO");
  EXPECT_EQ(with_capitals("plain"), "PLAIN");
  EXPECT_EQ(with_capitals(""), "");
}

TEST(HtmlText, ReferencesAreDecodedAndWrittenAgain) {
  const HtmlText read("<p>a &amp; b &lt; c&nbsp;&#228;&#xe4;&auml; AT&T</p>");
  EXPECT_EQ(read.texts(), (Texts{"a & b < c\u00a0äää AT&T"}));
  EXPECT_EQ(read.with(read.texts()), "<p>a &amp; b &lt; c\u00a0äää AT&amp;T</p>");
  // One that is not known must reach the browser as it is.
  EXPECT_EQ(with_capitals("a &Abreve; b &#128; c"), "A &Abreve; B &#128; C");
}

TEST(HtmlText, WhiteSpaceAroundTextsStaysAndWithinIsOneSpace) {
  const HtmlText read("<p>\n  one\n  two </p>\n<pre>a\n  b</pre>");
  EXPECT_EQ(read.texts(), (Texts{"one two", "a\n  b"}));
  EXPECT_EQ(read.with(Texts{"x", "y"}), "<p>\n  x </p>\n<pre>y</pre>");
}

TEST(HtmlText, WhatIsNoProseStays) {
  for (const char* const html :
       {"<script>if (a < b) c = '</p>';</script>", "<style>a { b: c }</style>",
        "<textarea>my <b>text</textarea>", "<code>a <b>c</b></code>", "<p>12.50 – 3</p>",
        "<span translate=\"no\">@<span>user</span> me</span>", "<i class='a notranslate'>b</i>",
        "<svg><text>a</text></svg>", "<SCRIPT>a</scripts></SCRIPT >"})
    EXPECT_EQ(with_capitals(html), html);
  EXPECT_EQ(with_capitals("<span translate=no><span>a</span>b</span>c<code>d</code>e"),
            "<span translate=no><span>a</span>b</span>C<code>d</code>E");
}

TEST(HtmlText, ReadsWhatDoesNotEnd) {
  const auto unchanged = [](const char* html) {
    return HtmlText(html).with(HtmlText(html).texts());
  };
  for (const char* const html : {"<", "<a", "<a href=\"b", "<!--", "<!-- a", "</", "</a",
                                 "<script>a", "<a b=", "<?a", "<!", "&", "&#", "<a =>", "< 1"})
    EXPECT_EQ(unchanged(html), html);
  // What looks like a reference and is none means its characters.
  EXPECT_EQ(unchanged("&a"), "&amp;a");
  EXPECT_EQ(unchanged("&#x;"), "&amp;#x;");
  EXPECT_EQ(with_capitals("1 < two <b>c"), "1 &lt; TWO <b>C");
}

/// Any input keeps its tags, and takes time in proportion to its length.
TEST(HtmlText, LongHostileInputIsReadInLinearTime) {
  for (const std::string part : {"<", "<a", "<!--", "</", "<script>", "&", "&a;", "<b>x", "<a b=\"",
                                 "<code>", "</code>", "&#38;", "<pre>", "<a ", "<a=", "</script"}) {
    std::string html;
    while (html.size() < 2'000'000) html += part;
    const auto begin = std::chrono::steady_clock::now();
    const HtmlText read(html);
    const std::string again = read.with(read.texts());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20)) << part;
    EXPECT_GE(again.size(), html.size()) << part;
  }
}

}  // namespace
}  // namespace heed::text

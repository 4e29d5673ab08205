#include <gtest/gtest.h>

#include <chrono>

#include "heed/error.h"
#include "tests/document/testing.h"

namespace heed::document {
namespace {

using Texts = std::vector<std::string>;

std::string html_in_capitals(const std::string& html) { return in_capitals(html, Format::html); }

std::string html_reversed(const std::string& html) {
  return translated(html, Format::html, reversed);
}

Texts html_texts(const std::string& html) { return texts_of(html, Format::html); }

TEST(Html, TagsAttributesAndCommentsStay) {
  EXPECT_EQ(html_in_capitals("<p>Hello <b class=\"x>y\" title='a'>world</b>!<!-- no --></p>"),
            "<p>HELLO <b class=\"x>y\" title='a'>WORLD</b>!<!-- no --></p>");
  EXPECT_EQ(html_in_capitals("<!DOCTYPE html><a href=x title=it's>one</a><br/>two"),
            "<!DOCTYPE html><a href=x title=it's>ONE</a><br/>TWO");
  EXPECT_EQ(html_in_capitals("plain"), "PLAIN");
  EXPECT_EQ(html_in_capitals(""), "");
}

TEST(Html, ASentenceWithInlineTagsIsOneSegment) {
  EXPECT_EQ(html_texts("<p>And the <b>LORD</b> spake unto <a href=\"x\">Moses</a></p>"),
            (Texts{"And the LORD spake unto Moses"}));
  EXPECT_EQ(html_texts("<p>one<br>two</p><ul><li>three<li>four</ul>"),
            (Texts{"one", "two", "three", "four"}));
  // LibreTranslate#806: a sentence in nested elements. #288: line breaks and tabs in a sentence.
  EXPECT_EQ(
      html_texts("<a href=\"#\" rel=\"noopener\">\n  <em>\n    <span style=\"color: #ff0000;\">\n"
                 "     View the range of\n    </span>\n  </em>\n  <em>\n    <span>\n"
                 "      drawers here!\n    </span>\n  </em>\n</a>"),
      (Texts{"View the range of drawers here!"}));
  EXPECT_EQ(
      html_texts("<body>\n\t<p>\n\t\tWenn eine Zeile kein Verb\n\t\tenthält, ist\n\t</p></body>"),
      (Texts{"Wenn eine Zeile kein Verb enthält, ist"}));
}

TEST(Html, InlineTagsFollowTheWordsThatTheyEnclose) {
  EXPECT_EQ(html_reversed("<p>the <b>red</b> <i>old house</i> burns</p>"),
            "<p>burns <i>house old</i> <b>red</b> the</p>");
  EXPECT_EQ(html_reversed("<p>a <a href=1>b <b>c</b> d</a> e</p>"),
            "<p>e <a href=1>d <b>c</b> b</a> a</p>");
  EXPECT_EQ(html_reversed("<p><b>all of it</b></p>"), "<p><b>it of all</b></p>");
}

TEST(Html, TagsThatABrowserWouldOpenAgainStayWhereTheyAre) {
  // The end of the paragraph leaves <b> to be opened again, so nothing moves from there on.
  EXPECT_EQ(html_texts("<p><b>one two</p><p>three <i>four</i> five</p>"),
            (Texts{"one two", "three", "four", "five"}));
  EXPECT_EQ(html_reversed("<b>one <i>two three</b> four</i>"), "<b>one <i>three two</b> four</i>");
  EXPECT_EQ(html_texts("<table>stray <b>text</b><tr><td>cell <b>text</b></table>"),
            (Texts{"stray", "text", "cell", "text"}));
  EXPECT_EQ(html_texts("<table><tr><td>a <b>cell<td>next <b>one</b></table>after <i>it</i>"),
            (Texts{"a", "cell", "next one", "after it"}));
}

TEST(Html, ReferencesAreDecodedAndWrittenAgain) {
  EXPECT_EQ(html_texts("<p>a &amp; b &lt; c&nbsp;&#228;&#xe4;&auml; AT&T &copy 2020</p>"),
            (Texts{"a & b < c\u00a0äää AT&T © 2020"}));
  EXPECT_EQ(html_in_capitals("<p>a &amp; b &lt; c AT&T</p>"), "<p>A &amp; B &lt; C AT&amp;T</p>");
  // One that is not known must reach the browser as it is.
  EXPECT_EQ(html_in_capitals("a &Abreve; b &#128; c"), "A &Abreve; B &#128; C");
}

TEST(Html, WhatIsNoProseStays) {
  for (const char* const html :
       {"<script>if (a < b) c = '</p>';</script>", "<style>a { b: c }</style>",
        "<textarea>my <b>text</textarea>", "<code>a <b>c</b></code>", "<p>12.50 – 3</p>",
        "<span translate=\"no\">@<span>user</span> me</span>", "<i class='a notranslate'>b</i>",
        "<svg><text>a</text></svg>", "<SCRIPT>a</scripts></SCRIPT >", "<!-- a --> <?b c>",
        "<script><!--<script>a</script>b--></script>"})
    EXPECT_EQ(html_in_capitals(html), html);
  EXPECT_EQ(html_in_capitals("<div translate=no><p>a</p>b</div>c"),
            "<div translate=no><p>a</p>b</div>C");
  EXPECT_EQ(html_in_capitals("<title>a <b>c</title>d"), "<title>A &lt;B&gt;C</title>D");
}

TEST(Html, ElementsThatAreNotTranslatedMoveAsAWhole) {
  EXPECT_EQ(html_reversed("<p>run <code>make <b>all</b></code> now</p>"),
            "<p>now <code>make <b>all</b></code> run</p>");
  EXPECT_EQ(html_in_capitals("<p>ask <span translate=no>Bill <i>Gates</i></span> now</p>"),
            "<p>ASK <span translate=no>Bill <i>Gates</i></span> NOW</p>");
  EXPECT_EQ(html_reversed("<p>see <svg><path d=''/></svg> this <img src=a> one</p>"),
            "<p>one this <img src=a> see <svg><path d=''/></svg></p>");
}

TEST(Html, PreformattedLinesKeepTheirSpaces) {
  EXPECT_EQ(html_in_capitals("<pre>a  b\n  c</pre>d\n  e"), "<pre>A  B\n  C</pre>D E");
}

TEST(Html, ReadsWhatDoesNotEnd) {
  for (const char* const html :
       {"<", "<a", "<a href=\"b", "<!--", "<!-- a", "</", "</a", "<script>a", "<a b=", "<?a", "<!",
        "&", "&#", "<a =>", "< 1", "<code>a <b>c", "&a"})
    EXPECT_EQ(html_in_capitals(html), html == std::string("&a") ? "&amp;A" : html);
  EXPECT_EQ(html_in_capitals("1 < two <b>c"), "1 &lt; TWO <b>C");
}

TEST(Html, OtherEncodingsAreRefusedInOneLine) {
  const auto error = [](const std::string& html) -> std::string {
    try {
      Document::read(html, Format::html);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error("\n<meta charset=ISO-8859-1>a"),
            "line 2: the document says that it is \"iso-8859-1\", expected UTF-8");
  EXPECT_EQ(error("<meta http-equiv=Content-Type content='text/html; charset=Shift_JIS'>"),
            "line 1: the document says that it is \"shift_jis\", expected UTF-8");
  EXPECT_EQ(error("caf\xE9"), "the document is not valid UTF-8: byte 4 is 0xE9");
  for (const std::string begin :
       {"<meta charset=\"ISO-8859-1\">", "<?xml version='1.0' encoding='iso-8859-1'?>"})
    EXPECT_EQ(
        error(begin + "caf\xE9"),
        "the document says that it is \"iso-8859-1\", expected UTF-8: iconv -t UTF-8 converts it");
  EXPECT_EQ(error("<meta charset=utf-8>caf\xE9"),
            "the document is not valid UTF-8: byte 24 is 0xE9");
  EXPECT_EQ(error("\xFF\xFE<\0p\0"), "the document is UTF-16, expected UTF-8");
  EXPECT_EQ(error("<meta charset='utf-8'>\xEF\xBB\xBF"), "");
}

/// Any input keeps its tags, and takes time in proportion to its length.
TEST(Html, LongHostileInputIsReadInLinearTime) {
  for (const std::string part :
       {"<",    "<a",       "<!--",      "</",      "<script>",    "&",     "&a;",
        "<b>x", "<a b=\"",  "<code>",    "</code>", "&#38;",       "<pre>", "<a ",
        "<a=",  "</script", "<b>x</b> ", "<div>",   "<table><td>", "</p>",  "<p><b>x</p>",
        "{a,",  "%s ",      "x ",        "x@",      "<svg>",       "<q2>",  "</q2>"}) {
    std::string html;
    while (html.size() < 50'000) html += part;
    const auto begin = std::chrono::steady_clock::now();
    const std::string again = html_reversed(html);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << part;
  }
}

}  // namespace
}  // namespace heed::document

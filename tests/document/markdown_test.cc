#include <gtest/gtest.h>

#include <chrono>

#include "tests/document/testing.h"

namespace heed::document {
namespace {

using Texts = std::vector<std::string>;

Texts markdown_texts(const std::string& text) { return texts_of(text, Format::markdown); }
std::string markdown_in_capitals(const std::string& text) {
  return in_capitals(text, Format::markdown);
}
std::string markdown_reversed(const std::string& text) {
  return translated(text, Format::markdown, reversed);
}

TEST(Markdown, BlocksAreKeptAndTheirTextsTranslated) {
  const std::string text =
      "---\ntitle: x\n---\n# Head *one* #\n\nA paragraph\nof two lines.\n\n> quoted\n> text\n\n* "
      "item\n  more\n"
      "  1. inner\n\n```sh\ncode here\n```\n\n    indented code\n\nsetext\n===\n\n<div>\nhtml "
      "block\n</div>\n\n"
      "| a b | c |\n| --- | :-: |\n| d `x` | e |\n\n[ref]: http://x.y 'title'\n***\n";
  EXPECT_EQ(markdown_texts(text), (Texts{"Head one", "A paragraph of two lines.", "quoted text",
                                         "item more", "inner", "setext", "a b", "c", "d x", "e"}));
  EXPECT_EQ(markdown_in_capitals("> one\n> two\n\n- three\n  four\n"),
            "> ONE TWO\n\n- THREE FOUR\n");
}

TEST(Markdown, InlineMarkupFollowsItsWords) {
  EXPECT_EQ(markdown_reversed("the **red** [old house](http://x.y \"t\") burns"),
            "burns [house old](http://x.y \"t\") **red** the");
  EXPECT_EQ(markdown_reversed("run `make all` or <b>ask</b> <http://a.b>"),
            "<http://a.b> <b>ask</b> or `make all` run");
  EXPECT_EQ(markdown_reversed("see [the page] and ![an image](a.png)\n\n[The Page]: x"),
            "![image an](a.png) and [page the][the page] see\n\n[The Page]: x");
  EXPECT_EQ(markdown_reversed("*one **two** three*, four"), "four *three, **two** one*");
}

TEST(Markdown, HardLineBreaksPartSegments) {
  EXPECT_EQ(markdown_texts("one  \ntwo\\\nthree<br>four"), (Texts{"one", "two", "three", "four"}));
  EXPECT_EQ(markdown_in_capitals("one  \ntwo\\\nthree<br>four"), "ONE  \nTWO\\\nTHREE<br>FOUR");
}

TEST(Markdown, TranslationsDoNotBecomeMarkup) {
  const auto with = [](const std::string& text, const std::string& translation) {
    return translated(text, Format::markdown, [&](const Segment&) {
      return TranslatedSegment{translation, {}};
    });
  };
  EXPECT_EQ(with("word", "# no *heading* [x](y) <b> &amp; `c`"),
            "\\# no \\*heading\\* \\[x\\](y) \\<b> \\&amp; \\`c\\`");
  EXPECT_EQ(with("word", "1. first"), "1\\. first");
  EXPECT_EQ(with("word", "- item"), "\\- item");
  EXPECT_EQ(with("|a|b|\n|-|-|\n", "x | y"), "|x \\| y|x \\| y|\n|-|-|\n");
}

TEST(Markdown, ReferencesAndEscapesAreDecoded) {
  EXPECT_EQ(markdown_texts("a \\* b &amp; c &nosuch; d"), (Texts{"a * b & c d"}));
  EXPECT_EQ(markdown_in_capitals("a \\* b &nosuch; d"), "A \\* B &nosuch; D");
}

TEST(Markdown, LongHostileInputIsReadInLinearTime) {
  for (const std::string part :
       {"*a ",  "**a* ", "_a_ ", "[",       "[a](",     "`",        "`` `", "<",
        "<a ",  "<!--",  "> ",   "- ",      "* a\n",    "&a;",      "![",   "]",
        "a**b", "\\",    "| a ", "*a **b ", "[a]: b\n", "\n\n> a\n"}) {
    std::string text;
    while (text.size() < 30'000) text += part;
    const auto begin = std::chrono::steady_clock::now();
    markdown_reversed(text);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << part;
  }
}

}  // namespace
}  // namespace heed::document

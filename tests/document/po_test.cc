#include <gtest/gtest.h>

#include "heed/error.h"
#include "tests/document/testing.h"

namespace heed::document {
namespace {

std::string po_in_capitals(const std::string& po) { return in_capitals(po, Format::po); }

std::string po_error(const std::string& po) {
  try {
    Document::read(po, Format::po);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Po, MessagesWithoutATranslationGetOne) {
  EXPECT_EQ(
      po_in_capitals("# comment\n#: a.c:1\nmsgctxt \"menu\"\nmsgid \"open\"\nmsgstr \"\"\n\n"
                     "msgid \"close\"\nmsgstr \"zu\"\n\n#, fuzzy\nmsgid \"a\"\nmsgstr \"b\"\n\n"
                     "#~ msgid \"old\"\n#~ msgstr \"\"\n"),
      "# comment\n#: a.c:1\nmsgctxt \"menu\"\nmsgid \"open\"\nmsgstr \"OPEN\"\n\n"
      "msgid \"close\"\nmsgstr \"zu\"\n\n#, fuzzy\nmsgid \"a\"\nmsgstr \"b\"\n\n"
      "#~ msgid \"old\"\n#~ msgstr \"\"\n");
}

TEST(Po, LinesOfAMessageStayLines) {
  EXPECT_EQ(po_in_capitals("msgid \"\"\n\"one \\\"two\\\"\\n\"\n\"three\\n\"\nmsgstr \"\"\n"),
            "msgid \"\"\n\"one \\\"two\\\"\\n\"\n\"three\\n\"\nmsgstr \"\"\n\"ONE "
            "\\\"TWO\\\"\\n\"\n\"THREE\\n\"\n");
  EXPECT_EQ(po_in_capitals("msgid \"\"\n\"a long \"\n\"text\"\r\nmsgstr \"\"\r\n"),
            "msgid \"\"\n\"a long \"\n\"text\"\r\nmsgstr \"A LONG TEXT\"\r\n");
}

TEST(Po, EachPluralFormIsFilled) {
  EXPECT_EQ(po_in_capitals("msgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] "
                           "\"\"\nmsgstr[1] \"\"\nmsgstr[2] \"\"\n"),
            "msgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"%d FILE\"\nmsgstr[1] \"%d "
            "FILES\"\n"
            "msgstr[2] \"%d FILES\"\n");
  EXPECT_EQ(po_in_capitals("msgid \"a file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"\"\n"),
            "msgid \"a file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"%d FILES\"\n");
}

TEST(Po, PlaceholdersFollowTheFlags) {
  const auto with = [](const std::string& flag, const std::string& id,
                       const std::string& translation) {
    return translated("#, " + flag + "\nmsgid \"" + id + "\"\nmsgstr \"\"\n", Format::po,
                      [&](const Segment&) {
                        return TranslatedSegment{translation, {}};
                      });
  };
  const auto expected = [](const std::string& flag, const std::string& id,
                           const std::string& translation) {
    return "#, " + flag + "\nmsgid \"" + id + "\"\nmsgstr \"" + translation + "\"\n";
  };
  EXPECT_EQ(with("c-format", "100%% of % d", "zu 100% aus % d da"),
            expected("c-format", "100%% of % d", "zu 100%% aus % d da"));
  EXPECT_EQ(with("python-format, fuzzy", "%(n)s files", "%(x)s 5%"),
            expected("python-format, fuzzy", "%(n)s files", "%(n)s %%(x)s 5%%"));
  EXPECT_EQ(with("python-brace-format", "{n} {{ok", "{n} { x {{"),
            expected("python-brace-format", "{n} {{ok", "{n} {{ x {{"));
}

TEST(Po, TheHeaderStays) {
  const std::string header =
      "msgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n\"Content-Type: text/plain; charset=";
  EXPECT_EQ(po_in_capitals(header + "CHARSET\\n\"\n"), header + "UTF-8\\n\"\n");
  EXPECT_EQ(po_error(header + "ISO-8859-2\\n\"\n"),
            "line 5: the catalog says that it is \"ISO-8859-2\", expected UTF-8");
}

TEST(Po, BrokenCatalogsAreRefusedWithTheLine) {
  EXPECT_EQ(po_error("msgid \"a\"\n\nfoo \"b\"\n"),
            "line 3: expected msgid or msgstr, found \"foo\"");
  EXPECT_EQ(po_error("msgid \"a\nmsgstr \"\"\n"),
            "line 1: expected a string in quotes, found \"msgid \\\"a\"");
  EXPECT_EQ(po_error("msgid \"a\\q\"\n"), "line 1: \\q is not known");
  EXPECT_EQ(po_error("\"a\"\n"), "line 1: a string without a keyword");
  EXPECT_EQ(po_error("msgid \"a\"\n"), "line 2: msgid without msgstr");
  EXPECT_EQ(po_error("msgstr \"a\"\n"), "line 2: msgstr without msgid");
}

TEST(Subtitles, NumbersTimesAndTagsStay) {
  const std::string srt =
      "1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i> my\nold friend\n\n2\n00:00:03,000 --> "
      "00:00:04,000\n"
      "- Who is it?\n- {\\an8}Me.\n";
  EXPECT_EQ(texts_of(srt, Format::srt),
            (std::vector<std::string>{"Hello my old friend", "Who is it?", "Me."}));
  EXPECT_EQ(in_capitals(srt, Format::srt),
            "1\n00:00:01,000 --> 00:00:02,000\n<i>HELLO</i> MY\nOLD FRIEND\n\n2\n00:00:03,000 --> "
            "00:00:04,000\n"
            "- WHO IS IT?\n- {\\an8}ME.\n");
}

TEST(Subtitles, WebVttKeepsItsBlocks) {
  const std::string vtt =
      "WEBVTT - title\n\nNOTE a comment\n\nSTYLE\n::cue { color: red }\n\nintro\n00:01.000 --> "
      "00:02.000 line:0\n"
      "<v Roger>Salt &amp; pepper <00:01.500>now\n";
  EXPECT_EQ(in_capitals(vtt, Format::vtt),
            "WEBVTT - title\n\nNOTE a comment\n\nSTYLE\n::cue { color: red }\n\nintro\n00:01.000 "
            "--> 00:02.000 line:0\n"
            "<v Roger>SALT &amp; PEPPER <00:01.500>NOW\n");
}

TEST(Subtitles, BrokenOnesAreRefusedWithTheLine) {
  const auto error = [](const std::string& text, Format format) -> std::string {
    try {
      Document::read(text, format);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error("1\nHello\n", Format::srt),
            "line 2: expected the times of a subtitle, found \"Hello\"");
  EXPECT_EQ(error("1\n", Format::vtt), "line 1: expected WEBVTT, found \"1\"");
}

}  // namespace
}  // namespace heed::document

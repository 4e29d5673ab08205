#include <gtest/gtest.h>

#include <chrono>

#include "heed/error.h"
#include "tests/document/testing.h"

namespace heed::document {
namespace {

using Texts = std::vector<std::string>;

std::string xml_in_capitals(const std::string& xml) { return in_capitals(xml, Format::xml); }

std::string xml_error(const std::string& xml, Format format = Format::xml) {
  try {
    Document::read(xml, format);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Xml, TagsAttributesReferencesAndInstructionsStay) {
  EXPECT_EQ(
      xml_in_capitals("<?xml version='1.0'?>\n<a b=\"x &gt; y\"><!-- no --><c>one &amp; two</c>\n"
                      "<?p q?><d/><e>3</e></a>\n"),
      "<?xml version='1.0'?>\n<a b=\"x &gt; y\"><!-- no --><c>ONE &amp; TWO</c>\n"
      "<?p q?><d/><e>3</e></a>\n");
}

TEST(Xml, ElementsBesideTextAreInline) {
  const std::string xml = "<s><p>the <b>red</b> <i>old house</i> burns</p><p><q>all</q></p></s>";
  EXPECT_EQ(texts_of(xml, Format::xml), (Texts{"the red old house burns", "all"}));
  EXPECT_EQ(translated(xml, Format::xml, reversed),
            "<s><p>burns <i>house old</i> <b>red</b> the</p><p><q>all</q></p></s>");
}

TEST(Xml, WhatMustNotBeTranslatedStays) {
  EXPECT_EQ(xml_in_capitals(
                "<r><string translatable='x'>Hi %1$s</string><s translate=\"no\">a<b>c</b></s>"
                "<p>see <k translate='no'>my <i>id</i></k> now</p></r>"),
            "<r><string translatable='x'>HI %1$s</string><s translate=\"no\">a<b>c</b></s>"
            "<p>SEE <k translate='no'>my <i>id</i></k> NOW</p></r>");
}

TEST(Xml, WhiteSpaceIsPreservedWhereItMustBe) {
  EXPECT_EQ(
      texts_of("<a><b>one\n  two</b><c xml:space='preserve'>one\n  two  x</c></a>", Format::xml),
      (Texts{"one two", "one", "two  x"}));
}

TEST(Xml, CdataIsTextOrHtml) {
  EXPECT_EQ(
      xml_in_capitals(
          "<a><b><![CDATA[plain text]]></b><c><![CDATA[<p>some <i>text</i> &amp;</p>]]></c></a>"),
      "<a><b><![CDATA[PLAIN TEXT]]></b><c><![CDATA[<p>SOME <i>TEXT</i> &amp;</p>]]></c></a>");
}

TEST(Xml, EntitiesOfTheDocumentAreNotExpanded) {
  std::string bomb = "<!DOCTYPE a [<!ENTITY l0 'lol'>";
  for (int i = 1; i < 20; ++i) {
    bomb += "<!ENTITY l" + std::to_string(i) + " '";
    for (int k = 0; k < 10; ++k) bomb += "&l" + std::to_string(i - 1) + ";";
    bomb += "'>";
  }
  bomb += "]>";
  EXPECT_EQ(xml_in_capitals(bomb + "<a>say &l19; now</a>"), bomb + "<a>SAY &l19; NOW</a>");
}

TEST(Xml, BrokenDocumentsAreRefusedWithTheLine) {
  EXPECT_EQ(xml_error("<a>\n<b></a>"), "line 2: <b> is closed by </a>");
  EXPECT_EQ(xml_error("<a>\n<b>"), "line 2: <b> is not closed");
  EXPECT_EQ(xml_error("<a/>\ntext"), "line 2: text outside of the root element");
  EXPECT_EQ(xml_error("<a b=c/>"), "line 1: a value of <a> is not in quotes");
  EXPECT_EQ(xml_error("<a>x & y</a>"), "line 1: \"& y</a>\" is no reference");
  EXPECT_EQ(xml_error("<a>&#0;</a>"), "line 1: \"&#0;\" is no character");
  EXPECT_EQ(xml_error("<?xml version='1.0' encoding='ISO-8859-1'?><a/>"),
            "line 1: the document says that it is \"ISO-8859-1\", expected UTF-8");
  EXPECT_EQ(xml_error(""), "line 1: there is no element");
  for (const char* const xml :
       {"<", "<a", "<a b", "<a b=", "<a b='", "<!--", "<a><![CDATA[", "<?x", "<!DOCTYPE a [",
        "<a/><b/>", "</a>", "<a></a", "<1/>", "<a b='<'/>", "<a><!-- a -- b --></a>"})
    EXPECT_NE(xml_error(xml), "") << xml;
}

TEST(Xml, DeepAndLongDocumentsAreReadInLinearTime) {
  for (const std::string part : {"<a>", "<a>x ", "<a b='c'>x<d/>"}) {
    std::string xml;
    for (int i = 0; i < 5'000; ++i) xml += part;
    for (int i = 0; i < 5'000; ++i) xml += "</a>";
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(xml_error(xml), "");
    EXPECT_GE(translated(xml, Format::xml, reversed).size(), xml.size());
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5)) << part;
  }
}

TEST(Xliff, TargetsAreWritten) {
  const std::string begin = "<xliff version='1.2'><file><body>";
  const std::string end = "</body></file></xliff>";
  const auto check = [&](const std::string& before, const std::string& after) {
    EXPECT_EQ(in_capitals(begin + before + end, Format::xliff), begin + after + end);
  };
  check("<trans-unit id='1'>\n  <source>Hi <g id='1'>you</g></source>\n</trans-unit>",
        "<trans-unit id='1'>\n  <source>Hi <g id='1'>you</g></source>\n  <target>HI <g "
        "id='1'>YOU</g></target>\n"
        "</trans-unit>");
  check("<trans-unit id='1'><source>one</source><target state='new'></target></trans-unit>",
        "<trans-unit id='1'><source>one</source><target state='new'>ONE</target></trans-unit>");
  check("<trans-unit id='1'><source>one</source><target/></trans-unit>",
        "<trans-unit id='1'><source>one</source><target>ONE</target></trans-unit>");
  // What a person has translated stays, and what must not be translated.
  check("<trans-unit id='1'><source>one</source><target>uno</target></trans-unit>",
        "<trans-unit id='1'><source>one</source><target>uno</target></trans-unit>");
  check("<trans-unit id='1' translate='no'><source>one</source></trans-unit>",
        "<trans-unit id='1' translate='no'><source>one</source></trans-unit>");
  check("<trans-unit id='1'><source>12</source></trans-unit>",
        "<trans-unit id='1'><source>12</source><target>12</target></trans-unit>");
}

TEST(Xliff, CodesKeepTheirContent) {
  const std::string begin = "<xliff version='1.2'><trans-unit><source>",
                    middle = "</source><target>", end = "</target></trans-unit></xliff>";
  const std::string source =
      "a <bpt id='1'>&lt;b></bpt>red<ept id='1'>&lt;/b></ept> <x id='2'/> <ph id='3'>%s</ph> house";
  EXPECT_EQ(translated(begin + source + "</source></trans-unit></xliff>", Format::xliff, reversed),
            begin + source + middle +
                "house <bpt id='1'>&lt;b></bpt>red<ept id='1'>&lt;/b></ept> <x id='2'/> <ph "
                "id='3'>%s</ph> a" +
                end);
}

TEST(Xliff, Version2HasSegments) {
  EXPECT_EQ(in_capitals("<xliff xmlns='urn:oasis:names:tc:xliff:document:2.0' version='2.0'><file "
                        "id='f'><unit id='1'>"
                        "<segment><source>go <pc id='1'>to <sc id='2'/>town<ec "
                        "startRef='2'/></pc></source></segment>"
                        "<ignorable><source> </source></ignorable></unit></file></xliff>",
                        Format::xliff),
            "<xliff xmlns='urn:oasis:names:tc:xliff:document:2.0' version='2.0'><file id='f'><unit "
            "id='1'>"
            "<segment><source>go <pc id='1'>to <sc id='2'/>town<ec startRef='2'/></pc></source>"
            "<target>GO <pc id='1'>TO <sc id='2'/>TOWN<ec startRef='2'/></pc></target></segment>"
            "<ignorable><source> </source></ignorable></unit></file></xliff>");
  EXPECT_EQ(xml_error("<a/>", Format::xliff), "the root element is no <xliff>");
}

}  // namespace
}  // namespace heed::document

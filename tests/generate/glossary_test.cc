#include "heed/generate/glossary.h"

#include <gtest/gtest.h>

#include "tests/base/testing.h"
#include "tests/generate/small_translator.h"

namespace heed {

namespace generate {
namespace {

/// Alternatives, and how many places there are.
using Texts = std::vector<std::pair<std::vector<std::string>, int>>;

Texts required(const Glossary& glossary, const std::string& line) {
  Texts texts;
  const std::vector<int32_t> source = translator_tokenizer().encode_source(line);
  for (const RequiredText& text : glossary.required_by(line, source))
    texts.emplace_back(text.alternatives, text.places.size());
  return texts;
}

Texts required(const std::vector<GlossaryTerm>& terms, const std::string& line) {
  return required(Glossary(terms, {}, translator_tokenizer()), line);
}

TEST(Glossary, FindsTermsAsWholeWordsInAnyCaseAndCountsThem) {
  const std::vector<GlossaryTerm> ark{{"ark", {"tent"}}};
  EXPECT_EQ(required(ark, "the ark, Ark. (ARK)"), (Texts{{{"tent", "Tent"}, 3}}));
  EXPECT_EQ(required(ark, "a dark park, arks, ark2"), Texts());
  EXPECT_EQ(required(ark, "the ark's roof"), (Texts{{{"tent"}, 1}}));
  EXPECT_EQ(required(ark, ""), Texts());
  EXPECT_EQ(required({{"\u00c9den", {"The"}}}, "in \u00e9den"), (Texts{{{"The"}, 1}}));
  EXPECT_EQ(required({{"\u0130", {"a"}}}, "i\u0307 \u0130"), (Texts{{{"a", "A"}, 2}}));
  // The vocabulary has no "L".
  EXPECT_EQ(required({{"Herr", {"lord"}}}, "Herr"), (Texts{{{"lord"}, 1}}));
}

TEST(Glossary, FindsTermsOfScriptsWithoutSpacesInsideOfTexts) {
  EXPECT_EQ(required({{"\u65b9\u821f", {"tent"}}}, "\u90a3\u65b9\u821f\u5f88"),
            (Texts{{{"tent"}, 1}}));
}

TEST(Glossary, TakesTheFirstAndOfTheseTheLongestOfTermsThatOverlap) {
  const std::vector<GlossaryTerm> terms{
      {"Lord", {"lord"}}, {"Lord God", {"the lord of all"}}, {"God of hosts", {"hero"}}};
  EXPECT_EQ(required(terms, "the Lord God of hosts"),
            (Texts{{{"the lord of all", "The lord of all"}, 1}}));
  EXPECT_EQ(required(terms, "the Lord, God of hosts"), (Texts{{{"lord"}, 1}, {{"hero"}, 1}}));
}

TEST(Glossary, AMatchOfCaseTakesATermAsItIsWritten) {
  const std::vector<GlossaryTerm> terms{{"May", {"Mai"}, true}, {"may", {"darf"}, true}};
  EXPECT_EQ(required(terms, "May I, in May: may I?"), (Texts{{{"Mai"}, 2}, {{"darf"}, 1}}));
  EXPECT_EQ(required(terms, "MAY"), Texts());
  EXPECT_EQ(required(Glossary({}, {"Ta"}, translator_tokenizer()), "TA and Ta"),
            (Texts{{{"Ta"}, 1}}));
}

TEST(Glossary, NamesTheTokensOfTheSourceThatATermHas) {
  const auto& tokenizer = translator_tokenizer();
  const std::string line = "before the lighthouse, cheese in the lighthouse";
  const std::vector<int32_t> source = tokenizer.encode_source(line);
  const auto found =
      Glossary({{"the lighthouse", {"tent"}}}, {}, tokenizer).required_by(line, source);
  ASSERT_EQ(found.size(), 1u);
  ASSERT_EQ(found[0].places.size(), 2u);
  for (const TokenRange& place : found[0].places)
    EXPECT_EQ(tokenizer.decode_target({source.begin() + place.begin, source.begin() + place.end}),
              "the lighthouse");
  EXPECT_EQ(found[0].places[1].end, std::ssize(source) - 1);
}

TEST(Glossary, RefusesTermsThatNoTextHasOrTheVocabularyCannotSpell) {
  const auto refused = [](const GlossaryTerm& term, const char* part) {
    expect_error([&] { Glossary({term}, {}, translator_tokenizer()); }, part);
  };
  refused({"", {"a"}}, "glossary has an empty text");
  refused({"a", {" "}}, "glossary has an empty text");
  refused({"a", {}}, "the term \"a\" of glossary has no target");
  refused({"a", std::vector<std::string>(33, "b")}, "has 33 targets, expected at most 32");
  refused({"a", {"\u4e16"}},
          "the required term \"\u4e16\" has characters that the vocabulary lacks");
  refused({"a", {"the  sea"}},
          "the required term \"the  sea\" cannot be written, the vocabulary makes it \"the sea\"");
  expect_error([] { Glossary({}, {"\xff"}, translator_tokenizer()); },
               "do_not_translate is not valid UTF-8");
  const std::string twice = "the term \"sea\" is given twice, in glossary or do_not_translate";
  expect_error(
      [] {
        Glossary({{"sea", {"ark"}}, {"sea", {"tent"}}}, {}, translator_tokenizer());
      },
      twice);
  expect_error([] { Glossary({{"sea", {"ark"}}}, {"sea"}, translator_tokenizer()); }, twice);
}

TEST(Glossary, IsReadFromLinesOfColumns) {
  EXPECT_EQ(parse_glossary("\xef\xbb\xbf# terms\nark\tboat | ship\r\n\nMay\tMai\tmatch_case\n"
                           "sea\tSee\t\n"),
            (std::vector<GlossaryTerm>{
                {"ark", {"boat", "ship"}}, {"May", {"Mai"}, true}, {"sea", {"See"}}}));
  EXPECT_TRUE(parse_glossary("").empty());
  const auto refused = [](const char* text, const char* part) {
    expect_error([&] { parse_glossary(text, "terms.tsv"); }, part);
  };
  refused("a\tb\nark\n", "terms.tsv: line 2: a term has 1 columns, expected 2 or 3");
  refused("a\tb\tc\td", "line 1: a term has 4 columns");
  refused("a\tb\texact", "line 1: the third column is \"exact\", expected \"match_case\"");
  refused("a\t", "line 1: the glossary has an empty text");
  refused("\tb", "line 1: the glossary has an empty text");
  refused("a\tb | ", "line 1: the glossary has an empty text");
  refused("a\t\xff", "line 1: the glossary is not valid UTF-8");
}

}  // namespace
}  // namespace generate
}  // namespace heed

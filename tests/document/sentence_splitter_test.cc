// Where sentences end, by language. More cases: tests/judges/sentences.
#include "heed/document/sentences/sentence_splitter.h"

#include <gtest/gtest.h>

#include "heed/document/sentences/abbreviation_learner.h"
#include "heed/document/sentences/clauses.h"
#include "heed/document/sentences/mark_learner.h"
#include "heed/document/sentences/segment_parts.h"
#include "heed/document/sentences/sentence_settings.h"
#include "tests/base/testing.h"

namespace heed::document {
namespace {

using Texts = std::vector<std::string>;

Texts texts_of(const std::string& text, const std::vector<ByteRange>& ranges) {
  Texts texts;
  for (const ByteRange& range : ranges)
    texts.push_back(text.substr(range.begin, range.end - range.begin));
  return texts;
}

Texts split(const std::string& text, const std::string& language = "en") {
  return texts_of(text, SentenceSplitter(language).split(text));
}

/// Expects the text to be one sentence.
void expect_whole(const std::string& text, const std::string& language = "en") {
  EXPECT_EQ(split(text, language), Texts{text});
}

TEST(SentenceSplitter, EndsSentencesBeforeWhiteSpace) {
  EXPECT_EQ(split("  He came.  He went!\tWhy? "), (Texts{"He came.", "He went!", "Why?"}));
  EXPECT_EQ(split("one line\nand another\r\n\n"), (Texts{"one line", "and another"}));
  EXPECT_EQ(split(""), Texts{});
  EXPECT_EQ(split(" \n\t"), Texts{});
  expect_whole("See www.example.com/a.b?c=d!e for $3.50 or v1.2.3 of a.out");
}

TEST(SentenceSplitter, KeepsAbbreviationsAndInitialsInside) {
  expect_whole("Mr. Smith met Dr. Who at St. Paul's.");
  expect_whole("J. R. R. Tolkien and Albert I. Jones wrote.");
  expect_whole("They work for the U.S. Government, No. 10, p. 55.");
  EXPECT_EQ(split("He said no. Then he left."), (Texts{"He said no.", "Then he left."}));
  EXPECT_EQ(split("I live in the U.S. How about you?"),
            (Texts{"I live in the U.S.", "How about you?"}));
  EXPECT_EQ(split("You and I. Did you see?"), (Texts{"You and I.", "Did you see?"}));
  expect_whole("Das ist z. B. Herr Dr. Meier am 12. Juni 2020.", "de");
  EXPECT_EQ(split("Es war 1998. Dann kam er.", "deu_Latn"),
            (Texts{"Es war 1998.", "Dann kam er."}));
  expect_whole("Hola Sra. Ledesma y Dr. Naser.", "es");
  expect_whole("В 1916 г. Иванов и А. С. Пушкин.", "ru_RU");
  EXPECT_EQ(split("In the Abb. Smith"), (Texts{"In the Abb.", "Smith"}));
  EXPECT_EQ(texts_of("In the abb. Smith",
                     SentenceSplitter("en", {.abbreviations = {"abb"}}).split("In the abb. Smith")),
            Texts{"In the abb. Smith"});
}

TEST(SentenceSplitter, TakesQuotesAndBracketsBehindTheEnd) {
  EXPECT_EQ(split("\"Go.\" He went. (He ran.) [1] So."),
            (Texts{"\"Go.\"", "He went.", "(He ran.)", "[1] So."}));
  expect_whole("\"Is this great?\" she said.");
  EXPECT_EQ(split("„Keine Lust.“ Wir gehen.", "de"), (Texts{"„Keine Lust.“", "Wir gehen."}));
  EXPECT_EQ(split("Il dit « non ! » Elle part.", "fr"), (Texts{"Il dit « non ! »", "Elle part."}));
}

TEST(SentenceSplitter, KnowsEllipsesAndLists) {
  EXPECT_EQ(split("I never meant that.... She left."),
            (Texts{"I never meant that....", "She left."}));
  expect_whole("I wasn't ... well [...] what I mean . . . I see.");
  EXPECT_EQ(split("1) Salt 2) Pepper 3) Oil"), (Texts{"1) Salt", "2) Pepper", "3) Oil"}));
  EXPECT_EQ(split("• 9. Salt • 10. Oil"), (Texts{"• 9. Salt", "• 10. Oil"}));
  expect_whole("1. Mai und 2. Juni", "de");
}

TEST(SentenceSplitter, KnowsOtherScripts) {
  EXPECT_EQ(split("他来了。我们去看《跑！跑》好吗？“好！”他说", "zh"),
            (Texts{"他来了。", "我们去看《跑！跑》好吗？", "“好！”", "他说"}));
  EXPECT_EQ(split("これはペンです。それは？", "ja"), (Texts{"これはペンです。", "それは？"}));
  EXPECT_EQ(split("यह है। वह था।", "hi"), (Texts{"यह है।", "वह था।"}));
  EXPECT_EQ(split("کیا حال ہے؟ میں حالا۔", "ur"), (Texts{"کیا حال ہے؟", "میں حالا۔"}));
  EXPECT_EQ(split("Πού είναι; Εκεί· όχι εδώ.", "el"), (Texts{"Πού είναι;", "Εκεί· όχι εδώ."}));
  EXPECT_EQ(split("One; Two.", "en"), (Texts{"One; Two."}));
}

TEST(SentenceSplitter, LosesNothingButWhiteSpace) {
  const Texts pieces{"a", "Mr", ".",  "...", "?", "!",  " ", "\n", "\"", "(",      ")",
                     "»", "。", "《", "》",  "1", "2)", "é", "Я",  "語", "\u0301", "\xC2\xA0"};
  uint32_t state = 1;
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (int k = 0; k < 14; ++k) {
      state = state * 1664525 + 1013904223;
      text += pieces[(state >> 16) % pieces.size()];
    }
    size_t end = 0;
    for (const ByteRange& range : SentenceSplitter().split(text)) {
      EXPECT_EQ(words_between_spaces(text.substr(end, range.begin - end)).size(), 0u) << text;
      ASSERT_LT(range.begin, range.end) << text;
      end = range.end;
    }
    EXPECT_EQ(words_between_spaces(text.substr(end)).size(), 0u) << text;
  }
}

Texts cut(const std::string& text, size_t most) {
  return texts_of(text, cut_at_clauses(text, {0, text.size()},
                                       [&](std::string_view part) { return part.size() <= most; }));
}

TEST(Clauses, AreCutWhereTheSentencePausesMost) {
  EXPECT_EQ(cut("He came, he saw; he won, he left", 20),
            (Texts{"He came, he saw;", "he won, he left"}));
  EXPECT_EQ(cut("one two three four, five six", 20), (Texts{"one two three four,", "five six"}));
  EXPECT_EQ(cut("one two three four", 10), (Texts{"one two", "three four"}));
  EXPECT_EQ(cut("abcdefgh", 4), (Texts{"abcd", "efgh"}));
  EXPECT_EQ(cut("他来了，我们走", 12), (Texts{"他来了，", "我们走"}));
  EXPECT_EQ(cut("short", 20), Texts{"short"});
}

TEST(Clauses, OfAnEndlessLineAreFoundInTime) {
  const std::string text(1'000'000, 'x');
  EXPECT_EQ(cut(text, 100).size(), 16384u);
}

TEST(SegmentParts, DoNotEndInsideOfWhatIsKept) {
  const Segment segment{.text = "See {a. B} now. Go", .kept = {{4, 10}}};
  EXPECT_EQ(texts_of(segment.text, parts_of(segment, SentenceSplitter("en"),
                                            [](std::string_view) { return true; })),
            (Texts{"See {a. B} now.", "Go"}));
}

TEST(SegmentParts, AreJoinedByWhatSeparatedThem) {
  const std::string text = "One.  Two. Three.";
  const std::vector<ByteRange> parts{{0, 4}, {6, 10}, {11, 17}};
  const TranslatedSegment joined =
      join_parts(text, parts,
                 std::vector<TranslatedSegment>{
                     {"Eins.", {{{0, 3}, {0, 4}}}}, {}, {"Drei.", {{{0, 5}, {0, 4}}}}});
  EXPECT_EQ(joined.text, "Eins. Drei.");
  EXPECT_EQ(joined.alignment.back(), (AlignedSpans{{11, 16}, {6, 10}}));
  EXPECT_EQ(
      join_parts(text, parts, std::vector<TranslatedSegment>{{"一。"}, {"2。"}, {"三。"}}).text,
      "一。2。三。");
  const std::string unspaced = "一。二。";
  EXPECT_EQ(join_parts(unspaced, std::vector<ByteRange>{{0, 6}, {6, 12}},
                       std::vector<TranslatedSegment>{{"One."}, {"Two."}})
                .text,
            "One. Two.");
}

TEST(AbbreviationLearner, FindsWordsThatStandWithAFullStopInside) {
  AbbreviationLearner learner;
  for (int i = 0; i < 6; ++i) learner.read("The Abt. is here, and abt. 5 of the abt. of the end.");
  EXPECT_EQ(learner.abbreviations(), Texts{"abt"});
}

TEST(MarkLearner, FindsTheMarksWithWhichLinesEnd) {
  MarkLearner learner;
  for (int i = 0; i < 3; ++i) {
    learner.read("And he said unto him: Go, Abram; and he went.");
    learner.read("These are the names of the sons:");
    learner.read("“Where art thou? and who told thee:”");
    learner.read("Shem, Ham; and Japheth;");
    learner.read("Who told thee? Hast thou eaten?");
  }
  EXPECT_EQ(learner.ends_before_capital(), U":;");
  EXPECT_EQ(learner.inside_before_small_letter(), U"?");
  MarkLearner small;  // a text without capitals
  for (int i = 0; i < 3; ++i) small.read("who told thee? hast thou eaten? thou hast?");
  small.read("who?");
  EXPECT_EQ(small.inside_before_small_letter(), U"?");
  small.read("who?");
  for (int i = 0; i < 3; ++i) small.read("why?");
  EXPECT_EQ(small.inside_before_small_letter(), U"");
}

TEST(SentenceSplitter, EndsSentencesAsTheTrainingDid) {
  const std::string text = "He said: Go! and he went: and (lo:) They were; where? and who? There.";
  EXPECT_EQ(split(text),
            (Texts{"He said: Go! and he went: and (lo:) They were; where?", "and who?", "There."}));
  const SentenceSplitter learned(
      "en", {.ends_before_capital = U":;", .inside_before_small_letter = U"?"});
  EXPECT_EQ(texts_of(text, learned.split(text)), (Texts{"He said:", "Go! and he went: and (lo:)",
                                                        "They were; where? and who?", "There."}));
}

TEST(SentenceSettings, AreReadAsTheyWereWritten) {
  const TemporaryDirectory folder;
  EXPECT_EQ(read_sentence_settings(folder.path()).max_source_tokens, 0);
  write_quickly(folder / kSentencesFile,
                text_of({.max_source_tokens = 93,
                         .learned = {.abbreviations = {"abt"},
                                     .ends_before_capital = U":；",
                                     .inside_before_small_letter = U"?"}}));
  write_quickly(folder / "tokenizer_config.json", R"({"source_lang": "de"})");
  const SentenceSettings settings = read_sentence_settings(folder.path());
  EXPECT_EQ(settings.max_source_tokens, 93);
  EXPECT_EQ(settings.learned.abbreviations, Texts{"abt"});
  EXPECT_EQ(settings.learned.ends_before_capital, U":；");
  EXPECT_EQ(settings.learned.inside_before_small_letter, U"?");
  EXPECT_EQ(settings.source_language, "de");
  write_quickly(folder / kSentencesFile, R"({"max_source_tokens": "many"})");
  EXPECT_THROW(read_sentence_settings(folder.path()), Error);
}

}  // namespace
}  // namespace heed::document

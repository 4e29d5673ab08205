#include "heed/language.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/detect/features.h"
#include "heed/detect/identifier.h"
#include "heed/detect/train.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

std::string language_of(std::string_view text) {
  const std::vector<DetectedLanguage> detected = detect_language(text);
  return detected.empty() ? "" : detected.front().code;
}

TEST(DetectLanguage, TellsSentencesOfManyLanguages) {
  const std::pair<const char*, const char*> sentences[] = {
      {"ar", "يولد جميع الناس أحرارًا متساوين في الكرامة والحقوق."},
      {"bg", "Всички хора се раждат свободни и равни по достойнство и права."},
      {"ca", "Tots els éssers humans neixen lliures i iguals en dignitat i en drets."},
      {"cs", "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv."},
      {"da", "Alle mennesker er født frie og lige i værdighed og rettigheder."},
      {"de", "Alle Menschen sind frei und gleich an Würde und Rechten geboren."},
      {"el", "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια."},
      {"en", "All human beings are born free and equal in dignity and rights."},
      {"es", "Todos los seres humanos nacen libres e iguales en dignidad y derechos."},
      {"fi", "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan."},
      {"fr", "Tous les êtres humains naissent libres et égaux en dignité et en droits."},
      {"he", "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם."},
      {"hi", "सभी मनुष्यों को गौरव और अधिकारों के मामले में जन्मजात स्वतन्त्रता प्राप्त है।"},
      {"hu", "Minden emberi lény szabadon születik és egyenlő méltósága és joga van."},
      {"id", "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak yang sama."},
      {"it", "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti."},
      {"ja", "すべての人間は、生まれながらにして自由である。"},
      {"ko", "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다."},
      {"nl", "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren."},
      {"pl", "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności."},
      {"pt", "Todos os seres humanos nascem livres e iguais em dignidade e em direitos."},
      {"ro", "Toate ființele umane se nasc libere și egale în demnitate și în drepturi."},
      {"ru", "Все люди рождаются свободными и равными в своем достоинстве и правах."},
      {"sv", "Alla människor är födda fria och lika i värde och rättigheter."},
      {"tr", "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar."},
      {"uk", "Всі люди народжуються вільними і рівними у своїй гідності та правах."},
      {"vi", "Tất cả mọi người sinh ra đều được tự do và bình đẳng về nhân phẩm."},
      {"zh", "人人生而自由,在尊严和权利上一律平等。"}};
  for (const auto& [language, sentence] : sentences)
    EXPECT_EQ(language_of(sentence), language) << sentence;
}

TEST(DetectLanguage, ProbabilitiesAreSortedAndAddUpToOne) {
  const std::vector<DetectedLanguage> detected = detect_language("la casa");
  ASSERT_EQ(detected.size(), LanguageIdentifier::built_in().languages().size());
  double sum = 0, before = 1;
  for (const DetectedLanguage& language : detected) {
    EXPECT_LE(language.probability, before);
    sum += before = language.probability;
  }
  EXPECT_NEAR(sum, 1, 1e-6);
}

TEST(DetectLanguage, NothingIsToldOfTextsWithoutLettersThatItKnows) {
  for (const char* text : {"", "  ", "1234 (56)!", "\xFF\xFE", "བོད་སྐད་", "ᚠᛇᚻ᛫ᛒᛦᚦ"})
    EXPECT_TRUE(detect_language(text).empty()) << text;
  EXPECT_EQ(language_of("\xFF Das ist ein Haus, und hier ist mein Garten. \xC3"), "de");
}

TEST(DetectLanguage, CaseDecompositionAndPunctuationDoNotCount) {
  const auto plain = detect_language("năm mới ở việt nam");
  EXPECT_EQ(detect_language("NĂM MỚI -- Ở (VIỆT NAM) 42"), plain);
  EXPECT_EQ(detect_language("na\u0306m mo\u031B\u0301i o\u031B\u0309 vie\u0323\u0302t nam"), plain);
}

TEST(DetectLanguage, LanguagesCanBeRestricted) {
  const std::vector<std::string> among{"de", "nl"};
  const auto detected = detect_language("Where do you live?", among);
  ASSERT_EQ(detected.size(), 2u);
  EXPECT_NEAR(detected[0].probability + detected[1].probability, 1, 1e-6);
  expect_error([] { detect_language("a", std::vector<std::string>{"xx"}); },
               "\"xx\" is not a language that can be detected, expected some of af, am, ar");
}

TEST(DetectLanguage, LongTextsAreReadInBoundedTime) {
  std::string text;
  while (text.size() < 10'000'000) text += "Wer reitet so spät durch Nacht und Wind? ";
  EXPECT_EQ(language_of(text), "de");
  detect::Features features;
  detect::extract_features(std::string(1'000'000, 'a'), features);
  EXPECT_EQ(features.pages.size(), detect::kMostLetters);
}

/// Trains on two made-up languages.
LanguageIdentifier trained(const TemporaryDirectory& directory, uint64_t seed) {
  std::string consonants, vowels;
  for (int i = 0; i < 50; ++i) {
    consonants += fmt::format("kt{} trk psk\n", std::string(i % 7, 'r'));
    vowels += fmt::format("aio{} eua oie\n", std::string(i % 7, 'u'));
  }
  const std::vector<std::filesystem::path> files{directory.path() / "xb.txt",
                                                 directory.path() / "xa.txt"};
  write_file_atomically(files[0], consonants);
  write_file_atomically(files[1], vowels);
  return LanguageIdentifier::train(files, {.examples = 2000, .seed = seed});
}

TEST(LanguageIdentifier, LearnsSavesAndLoads) {
  const TemporaryDirectory directory;
  const LanguageIdentifier identifier = trained(directory, 1);
  EXPECT_EQ(identifier.languages(), (std::vector<std::string>{"xa", "xb"}));
  EXPECT_EQ(identifier.detect("trk ktrr").front().code, "xb");
  EXPECT_EQ(identifier.detect("oie aio").front().code, "xa");
  identifier.save(directory.path() / "own.bin");
  const LanguageIdentifier read = LanguageIdentifier::load(directory.path() / "own.bin");
  EXPECT_EQ(read.detect("psk aio"), identifier.detect("psk aio"));
}

TEST(LanguageIdentifier, TrainingIsAFunctionOfItsTextsAndSeed) {
  const TemporaryDirectory directory;
  const auto bytes = [&](uint64_t seed) {
    trained(directory, seed).save(directory.path() / "own.bin");
    return read_file(directory.path() / "own.bin");
  };
  EXPECT_EQ(bytes(1), bytes(1));
  EXPECT_NE(bytes(1), bytes(2));
}

TEST(LanguageIdentifier, RefusesDamagedFiles) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "own.bin";
  trained(directory, 1).save(file);
  const std::string whole = read_file(file);
  const auto refused = [&](const std::string& bytes, const std::string& message) {
    write_file_atomically(file, bytes);
    expect_error([&] { LanguageIdentifier::load(file); }, message);
  };
  refused("", "this is no file of a language identifier");
  refused("x" + whole, "this is no file of a language identifier");
  for (const size_t size : {9u, 30u, 2000u, 100000u}) refused(whole.substr(0, size), "too early");
  refused(whole + "x", "too long");
  std::string huge = whole;
  huge[8] = 31;  // bits of rows
  refused(huge, "31 bits of rows, expected 1 to 22");
  huge = whole;
  huge[16] = 3;  // languages
  refused(huge, "names 2 languages, expected 3");
}

TEST(LanguageIdentifier, OneLanguageIsNotLearned) {
  const TemporaryDirectory directory;
  const std::vector<std::filesystem::path> files{directory.path() / "xa.txt"};
  write_file_atomically(files[0], "a\n");
  expect_error([&] { LanguageIdentifier::train(files); }, "at least two languages");
}

}  // namespace
}  // namespace heed

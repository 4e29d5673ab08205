// Tokenizer files of up to 1 MB that try to crash, hang or exhaust memory, and texts of 1 MB for
// them: each is read and used, or refused, at a bounded cost.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/text/hostile_tokenizer_json.h"

namespace heed::text {
namespace {

using nlohmann::json;

json sequence(const char* member, json parts) {
  return {{"type", "Sequence"}, {member, std::move(parts)}};
}

json repeated_part(const json& part, size_t count) { return json(count, part); }

json replace(const std::string& pattern, const std::string& content) {
  return {{"type", "Replace"}, {"pattern", {{"String", pattern}}}, {"content", content}};
}

json split(const std::string& pattern) {
  return {{"type", "Split"},
          {"pattern", {{"Regex", pattern}}},
          {"behavior", "Isolated"},
          {"invert", false}};
}

json added(const std::string& content, const json& more = json::object()) {
  json token = {{"id", 100}, {"content", content}, {"special", true}, {"normalized", false}};
  token.update(more);
  return token;
}

/// "a", "aa", "aaa" and so on: as many as fit into 1 MB.
std::vector<std::string> growing_pieces() {
  std::vector<std::string> pieces;
  for (size_t length = 1; length * length < 2 * kHostileBytes; ++length)
    pieces.emplace_back(length, 'a');
  return pieces;
}

TEST(HostileTokenizer, RegularExpressions) {
  expect_refused_tokenizer(tokenizer_json({{"pre_tokenizer", split(repeated("\\w", 500000))}}),
                           "at most 16384");
  expect_cheap_tokenizer(tokenizer_json(
      {{"pre_tokenizer", split("(?<=" + repeated("(", 16) + "a" + repeated("|b)", 16) + ")a")}}));
  expect_cheap_tokenizer(tokenizer_json({{"pre_tokenizer", split("(?=(?:a|aa)+b)a")}}));
  // Each is below the limit, but their total is not.
  expect_refused_tokenizer(
      tokenizer_json(
          {{"pre_tokenizer",
            sequence("pretokenizers", repeated_part(split(repeated("[^a]", 1000)), 250))}}),
      "have 1000000 bytes in total");
}

TEST(HostileTokenizer, ManyParts) {
  const json nfc = {{"type", "NFC"}}, digits = {{"type", "Digits"}, {"individual_digits", true}};
  expect_refused_tokenizer(
      tokenizer_json({{"normalizer", sequence("normalizers", repeated_part(nfc, 70000))}}),
      "70001 normalizers");
  expect_refused_tokenizer(
      tokenizer_json({{"pre_tokenizer", sequence("pretokenizers", repeated_part(digits, 20000))}}),
      "20001 normalizers");
  // Sequences in sequences.
  json nested = nfc;
  for (int depth = 0; depth < 20; ++depth) nested = sequence("normalizers", {nested});
  expect_cheap_tokenizer(tokenizer_json({{"normalizer", nested}}));
}

TEST(HostileTokenizer, NormalizersThatMakeTextGrow) {
  const auto refused = [](const json& normalizer) {
    expect_refused_tokenizer(tokenizer_json({{"normalizer", normalizer}}), "bytes of the text");
  };
  refused(sequence("normalizers", repeated_part(replace("a", "aa"), 33)));
  refused(replace("a", std::string(500000, 'x')));
  refused(replace("", std::string(500000, 'x')));
  const json prepend = {{"type", "Prepend"}, {"prepend", std::string(8000, 'x')}};
  expect_refused_tokenizer(
      tokenizer_json({{"normalizer", sequence("normalizers", repeated_part(prepend, 250))}}),
      "bytes of the text", "a");
  expect_refused_tokenizer(
      tokenizer_json({{"normalizer",
                       sequence("normalizers", repeated_part(json{{"type", "ByteLevel"}}, 40))}}),
      "bytes of the text", repeated("é", kHostileText / 2));
}

TEST(HostileTokenizer, PreTokenizersThatMakeTextGrow) {
  const json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  expect_refused_tokenizer(
      tokenizer_json({{"pre_tokenizer", sequence("pretokenizers", repeated_part(byte_level, 40))}}),
      "bytes of the text", repeated("é", kHostileText / 2));
}

TEST(HostileTokenizer, PostProcessorsThatRepeatTheText) {
  const json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const json special = {{"SpecialToken", {{"id", "s"}, {"type_id", 0}}}};
  const auto processor = [](const json& single, size_t ids) {
    return json{{"type", "TemplateProcessing"},
                {"single", single},
                {"special_tokens", {{"s", {{"id", "s"}, {"ids", json(ids, 1)}}}}}};
  };
  expect_refused_tokenizer(
      tokenizer_json({{"post_processor",
                       sequence("processors", repeated_part(processor({text, text}, 1), 30))}}),
      "repeats the text 32 times");
  expect_refused_tokenizer(tokenizer_json({{"post_processor", processor(json(20000, text), 1)}}),
                           "repeats the text 20000 times");
  expect_refused_tokenizer(
      tokenizer_json({{"post_processor", processor(json(20000, special), 4000)}}),
      "adds more than 4096 special tokens");
}

TEST(HostileTokenizer, DecodersThatMakeTextGrow) {
  const auto refused = [](const json& decoder) {
    expect_refused_tokenizer(tokenizer_json({{"decoder", decoder}}), "bytes of the text");
  };
  refused(sequence("decoders", repeated_part(replace("a", "aa"), 33)));
  refused(replace("a", std::string(500000, 'x')));
}

TEST(HostileTokenizer, AddedTokens) {
  expect_cheap_tokenizer(tokenizer_json({{"added_tokens", {added(kLongPiece)}}}));
  json tokens = json::array();
  for (const std::string& piece : growing_pieces()) tokens.push_back(added(piece + "b"));
  expect_cheap_tokenizer(tokenizer_json({{"added_tokens", tokens}}));
  // Each match searches for the end of the white space around it.
  const std::string spaces(kHostileText, ' ');
  for (const char* side : {"lstrip", "rstrip"})
    expect_cheap_tokenizer(tokenizer_json({{"added_tokens", {added(" ", {{side, true}})}}}),
                           spaces);
  // Each token is normalised.
  json many = json::array();
  for (int i = 0; i < 10000; ++i)
    many.push_back(added(fmt::format("a{}", i), {{"normalized", true}}));
  expect_refused_tokenizer(tokenizer_json({{"added_tokens", many},
                                           {"normalizer", replace("", std::string(100000, 'x'))}}),
                           "bytes of the text");
}

TEST(HostileTokenizer, Unigram) {
  const auto of_pieces = [](const std::vector<std::string>& pieces) {
    json vocabulary = {{"<unk>", 0.0}};
    for (const std::string& piece : pieces) vocabulary.push_back({piece, -1.0});
    return tokenizer_json({{"model", {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", vocabulary}}}});
  };
  expect_cheap_tokenizer(of_pieces({kLongPiece}));
  expect_cheap_tokenizer(of_pieces({kLongPiece.substr(0, 400000), kLongPiece.substr(1)}));
  expect_cheap_tokenizer(of_pieces(growing_pieces()), std::string(kHostileText / 4, 'a'));
}

TEST(HostileTokenizer, WordPiece) {
  const auto of_pieces = [](const std::vector<std::string>& pieces) {
    json vocabulary = {{"[UNK]", 0}};
    for (const std::string& piece : pieces) vocabulary[piece] = vocabulary.size();
    return tokenizer_json({{"model",
                            {{"type", "WordPiece"},
                             {"unk_token", "[UNK]"},
                             {"continuing_subword_prefix", "##"},
                             {"max_input_chars_per_word", int64_t{1} << 60},
                             {"vocab", vocabulary}}}});
  };
  expect_cheap_tokenizer(of_pieces({"a", "##a", "##" + kLongPiece}));
  expect_cheap_tokenizer(of_pieces({kLongPiece}));
  std::vector<std::string> pieces = growing_pieces();
  for (std::string& piece : pieces) piece = "##" + piece + "b";
  pieces.insert(pieces.end(), {"a", "##a"});
  expect_cheap_tokenizer(of_pieces(pieces));
}

TEST(HostileTokenizer, BpeMerges) {
  json vocabulary = {{"b", 0}}, merges = json::array();
  const std::vector<std::string> pieces = growing_pieces();
  for (const std::string& piece : pieces) vocabulary[piece] = vocabulary.size();
  for (size_t i = 1; i < pieces.size() / 2; ++i) merges.push_back({pieces[i - 1], "a"});
  expect_cheap_tokenizer(
      tokenizer_json({{"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", merges}}}}));
  expect_refused_tokenizer(
      tokenizer_json({{"model",
                       {{"type", "BPE"},
                        {"vocab", {{"a", 0}}},
                        {"merges", json::array({json::array({kLongPiece, "a"})})}}}}),
      "is not in the vocabulary");
}

TEST(HostileTokenizer, NumbersOfPieces) {
  expect_cheap_tokenizer(tokenizer_json(
      {{"model",
        {{"type", "BPE"}, {"vocab", {{"a", (1 << 24) - 1}}}, {"merges", json::array()}}}}));
  expect_refused_tokenizer(
      tokenizer_json(
          {{"model", {{"type", "BPE"}, {"vocab", {{"a", 1 << 24}}}, {"merges", json::array()}}}}),
      "a is 16777216, expected 0 to 16777215");
}

TEST(HostileTokenizer, Json) {
  const auto parse = [](const std::string& text) {
    return expect_cheap([&] { parse_json(text, "tokenizer.json"); });
  };
  EXPECT_NE(parse(std::string(kHostileBytes, '[')).find("deeper than 64"), std::string::npos);
  EXPECT_NE(parse(repeated("{\"a\":", 200000)).find("deeper than 64"), std::string::npos);
  EXPECT_NE(parse('"' + repeated("\x1b[2J", 250000)).find("is not JSON"), std::string::npos);
  EXPECT_EQ(parse('[' + repeated("[],", 349000) + "0]"), "");
  EXPECT_EQ(parse('[' + repeated("{},", 349000) + "0]"), "");
  parse(std::string(kHostileBytes, '9'));
  parse("0." + std::string(kHostileBytes, '1') + "e-5");
  std::string members;
  for (int i = 0; i < 100000; ++i) members += fmt::format("\"{}\":0,", i);
  EXPECT_EQ(parse('{' + members + "\"\":0}"), "");
}

}  // namespace
}  // namespace heed::text

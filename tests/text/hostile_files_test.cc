// Tokenizers in files other than tokenizer.json, of up to 1 MB, that try to crash, hang or exhaust
// memory: each is read and used, or refused, at a bounded cost.
#include <gtest/gtest.h>

#include <cstring>

#include "heed/io/gguf/gguf_file.h"
#include "heed/text/gguf/tokenizer.h"
#include "heed/text/sentencepiece.h"
#include "tests/io/gguf_bytes.h"
#include "tests/text/hostile_tokenizer_json.h"
#include "tests/text/protobuf_bytes.h"

namespace heed::text {
namespace {

using io::GgufBytes;
using io::GgufType;
using Kind = SentencePieceBytes::Kind;

const std::string kHostileLine(kHostileText / 4, 'a');

void use_directory(const std::vector<std::pair<std::string, std::string>>& files) {
  const TemporaryDirectory folder;
  for (const auto& [name, bytes] : files) write_quickly(folder / name, bytes);
  const Tokenizer tokenizer = Tokenizer::load(folder.path());
  tokenizer.decode(tokenizer.encode(kHostileLine));
}

std::string expect_cheap_directory(const std::vector<std::pair<std::string, std::string>>& files) {
  return expect_cheap([&] { use_directory(files); });
}

SentencePieceBytes with_growing_pieces(Kind kind) {
  SentencePieceBytes model(kind);
  for (size_t length = 1; length * length < 2 * kHostileBytes; ++length)
    model.piece(std::string(length, 'a'), -static_cast<float>(length));
  return model;
}

TEST(HostileFiles, SentencePiecePieces) {
  for (const Kind kind : {Kind::bpe, Kind::unigram}) {
    EXPECT_EQ(expect_cheap_directory(
                  {{"tokenizer.model", SentencePieceBytes(kind).piece(kLongPiece, -1).bytes}}),
              "");
    SentencePieceBytes many(kind);
    for (int i = 0; i < 50000; ++i)
      many.piece(fmt::format("{}", i), -1, SentencePieceBytes::user_defined);
    EXPECT_EQ(expect_cheap_directory({{"tokenizer.model", many.bytes}}), "");
  }
  EXPECT_EQ(expect_cheap_directory({{"tokenizer.model", with_growing_pieces(Kind::bpe).bytes}}),
            "");
  EXPECT_EQ(expect_cheap_directory({{"tokenizer.model", with_growing_pieces(Kind::unigram).bytes}}),
            "");
}

TEST(HostileFiles, SentencePieceMessages) {
  const auto refused = [](const std::string& bytes) {
    EXPECT_NE(expect_cheap_directory({{"tokenizer.model", bytes}}), "");
    EXPECT_NE(expect_cheap([&] { SentencePiece::from_bytes(bytes, "source.spm"); }), "");
  };
  refused(std::string(kHostileBytes, '\xff'));
  refused(repeated("\x0b", kHostileBytes));                                  // groups, which nest
  refused(repeated(bytes_field(1, ""), kHostileBytes / 2));                  // empty pieces
  refused(repeated(bytes_field(2, ""), kHostileBytes / 2));                  // no pieces
  refused(bytes_field(1, repeated(bytes_field(1, ""), kHostileBytes / 2)));  // of one piece
  refused(varint(1 << 3 | 2) + varint(UINT64_MAX));
}

TEST(HostileFiles, SentencePieceGroupsThatNest) {
  const std::string bytes =
      SentencePieceBytes(Kind::unigram).bytes + bytes_field(2, repeated("\x0b", kHostileBytes));
  expect_cheap([&] { SentencePiece::from_bytes(bytes, "source.spm"); });
  expect_cheap_directory({{"tokenizer.model", bytes}});
}

TEST(HostileFiles, SentencePieceLibrary) {
  const auto error_with = [](const SentencePieceBytes& model) {
    return expect_cheap(
        [&] { SentencePiece::from_bytes(model.bytes, "source.spm").encode(kHostileLine); });
  };
  for (const Kind kind : {Kind::bpe, Kind::unigram, Kind::word, Kind::character}) {
    EXPECT_NE(error_with(SentencePieceBytes(kind).piece(kLongPiece, -1)).find("at most 1024"),
              std::string::npos);
    EXPECT_EQ(error_with(SentencePieceBytes(kind).piece("a", -1).piece(std::string(1024, 'a'), -2)),
              "");
  }
}

/// A normalisation table with one key of `length` times 'a'.
std::string charsmap_of(uint32_t length, const std::string& replacement) {
  // Each unit and all its possible children have a block of 256 units of their own.
  std::vector<uint32_t> units(256 * (length + 2));
  for (uint32_t i = 0; i < units.size(); ++i) units[i] = (i & 0xFF) ^ 1;  // no child of its block
  const auto place = [](uint32_t depth) { return depth == 0 ? 0 : 256 * depth + 'a'; };
  for (uint32_t depth = 0; depth <= length; ++depth) {
    const uint32_t children = 256 * (depth + 1);
    uint32_t& unit = units[place(depth)];
    unit = (place(depth) ^ children) << 10;
    if (depth > 0) unit |= 'a';
    if (depth == length) {
      unit |= 1u << 8;
      units[children] = 1u << 31;  // its value: the first replacement
    }
  }
  std::string trie(units.size() * 4, '\0');
  std::memcpy(trie.data(), units.data(), trie.size());
  const auto size = static_cast<uint32_t>(trie.size());
  std::string bytes(4, '\0');
  std::memcpy(bytes.data(), &size, 4);
  return bytes + trie + replacement + '\0';
}

TEST(HostileFiles, NormalisationTables) {
  const auto model_with = [](const std::string& charsmap) {
    SentencePieceBytes model(Kind::unigram);
    model.piece("a", -1).piece("x", -1);
    model.bytes += bytes_field(3, bytes_field(2, charsmap));
    return model;
  };
  const auto read = [&](const std::string& charsmap) {
    const SentencePieceBytes model = model_with(charsmap);
    const std::string refused = expect_cheap_directory({{"tokenizer.model", model.bytes}});
    EXPECT_EQ(expect_cheap([&] {
                SentencePiece::from_bytes(model.bytes, "m").encode(kHostileLine);
              }).empty(),
              refused.empty());
    return refused;
  };
  EXPECT_EQ(read(charsmap_of(2, "x")), "");
  EXPECT_EQ(read(charsmap_of(256, "x")), "");
  EXPECT_NE(read(charsmap_of(257, "x")), "");
  EXPECT_NE(read(charsmap_of(1000, "x")), "");
  EXPECT_NE(read(charsmap_of(5, std::string(65, 'x'))), "");
  EXPECT_NE(read(charsmap_of(1, std::string(17, 'x'))), "");
  EXPECT_NE(read(charsmap_of(1, std::string(500000, 'x'))), "");
  const std::string longest = model_with(charsmap_of(4, std::string(64, 'x'))).bytes;
  EXPECT_EQ(expect_cheap([&] { SentencePiece::from_bytes(longest, "m"); }), "");
  // Every letter becomes 16 of them.
  const std::string growing = model_with(charsmap_of(1, std::string(16, 'x'))).bytes;
  const std::string refused = expect_cheap_directory({{"tokenizer.model", growing}});
  // Sanitizers read a text that is too short to exceed the limit.
  if (!kSanitized) {
    EXPECT_NE(refused.find("bytes of the text"), std::string::npos);
  }
  expect_cheap(
      [&] { SentencePiece::from_bytes(growing, "m").encode(kHostileLine.substr(0, 50000)); });
}

std::string array(GgufType type, size_t count, const std::string& elements) {
  return GgufBytes::number(static_cast<uint32_t>(type)) + GgufBytes::number(uint64_t{count}) +
         elements;
}

std::string use_gguf(const std::vector<std::string>& pieces, const std::string& kind) {
  std::string texts, scores;
  for (size_t i = 0; i < pieces.size(); ++i) {
    texts += GgufBytes::text(pieces[i]);
    scores += GgufBytes::number(-static_cast<float>(i));
  }
  GgufBytes bytes;
  bytes.value("tokenizer.ggml.model", GgufType::string, GgufBytes::text(kind))
      .value("tokenizer.ggml.tokens", GgufType::array,
             array(GgufType::string, pieces.size(), texts))
      .value("tokenizer.ggml.scores", GgufType::array, array(GgufType::f32, pieces.size(), scores))
      .value("tokenizer.ggml.unknown_token_id", GgufType::u32, GgufBytes::number(uint32_t{0}));
  return expect_cheap([&] {
    const TemporaryDirectory folder;
    write_quickly(folder / "model.gguf", bytes.bytes());
    const auto file = io::GgufFile::open(folder / "model.gguf");
    const Tokenizer tokenizer = read_gguf_tokenizer(file->metadata(), "model.gguf");
    tokenizer.decode(tokenizer.encode(kHostileLine));
    tokenizer.files();
  });
}

TEST(HostileFiles, GgufPieces) {
  EXPECT_EQ(use_gguf({"<unk>", kLongPiece}, "llama"), "");
  std::vector<std::string> growing{"<unk>"};
  for (size_t length = 1; length * length < 2 * kHostileBytes; ++length)
    growing.emplace_back(length, 'a');
  // Its merges, written to tokenizer.json, would have a gigabyte.
  EXPECT_NE(use_gguf(growing, "llama").find("the merges of"), std::string::npos);
  EXPECT_NE(use_gguf({"<unk>", "a\xff\x1b[2J"}, "llama"), "");
  EXPECT_NE(use_gguf({"<unk>"}, "\x1b[2J"), "");
}

TEST(HostileFiles, VocabulariesInText) {
  EXPECT_EQ(expect_cheap_directory({{"vocab.txt", "[UNK]\n" + std::string(kHostileBytes, '\n')}}),
            "");
  EXPECT_EQ(expect_cheap_directory({{"vocab.txt", "[UNK]\na\n##" + kLongPiece}}), "");
  expect_cheap_directory({{"vocab.json", R"({"a": 0})"}, {"merges.txt", kLongPiece + " a"}});
  expect_cheap_directory(
      {{"vocab.json", R"({"a": 0})"}, {"merges.txt", repeated("\n", kHostileBytes)}});
  std::string tokens;
  for (int i = 0; i < 20000; ++i) tokens += fmt::format("\"{}\": {{\"content\": \"t{}\"}},", i, i);
  expect_cheap_directory({{"vocab.txt", "[UNK]\na\n"},
                          {"tokenizer_config.json", "{\"added_tokens_decoder\": {" + tokens +
                                                        "\"30000\": {\"content\": \"x\"}}}"}});
}

}  // namespace
}  // namespace heed::text

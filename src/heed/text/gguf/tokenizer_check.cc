#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/text/gguf/tokenizer.h"
#include "heed/text/gguf/tokenizer_write.h"

namespace heed::text {
namespace {

/// Texts that tokenizers split in different ways: contractions, numbers, scripts, spaces, code.
std::vector<std::string> probes(const Tokenizer& tokenizer) {
  std::vector<std::string> texts{
      "The quick brown fox doesn't jump; I'LL see 1234567 dogs, won't WE'd?",
      "  two  spaces\tand tabs\n\nnew lines \r\n end ",
      "caf\u00E9 na\u00EFve \u00DCber stra\u00DFe \u041F\u0440\u0438\u0432\u0435\u0442 "
      "\u03B1\u03B2\u03B3",
      "\u4F60\u597D\uFF0C\u4E16\u754C\u3002\u65E5\u672C\u8A9E\u306E\u30C6\u30B9\u30C8 "
      "\uD55C\uAD6D\uC5B4",
      "for (int i = 0; i != n; ++i) { x[i] += \"a_b\"; } // $5.00 50%",
      "\U0001F600\U0001F1EB\U0001F1F7 \u00BD \u00B2 \u0967\u0968\u0969 a1b22c333"};
  constexpr int64_t kPieces = 500;
  const int64_t size = tokenizer.vocab_size(), step = std::max<int64_t>(size / kPieces, 1);
  for (int64_t id = 0; id < size; id += step)
    if (const int32_t one[] = {static_cast<int32_t>(id)}; !tokenizer.is_special(one[0]))
      texts.push_back("x " + tokenizer.decode(one) + " y");
  return texts;
}

/// A text that the tokenizer does not change. What it decodes has lost unknown characters, and may
/// have two spaces in their place.
std::string normalized(const Tokenizer& tokenizer, const std::string& text) {
  const auto again = [&](const std::string& from) {
    return tokenizer.decode(tokenizer.encode(from, false));
  };
  return again(again(text));
}

}  // namespace

std::string check_gguf_tokenizer(const io::GgufMetadata& metadata, const std::string& file,
                                 const Tokenizer& tokenizer, const GgufTokenizer& written) {
  const Tokenizer again = read_gguf_tokenizer(metadata, file);
  for (std::string& text : probes(tokenizer)) {
    if (!written.normalizes && text.find('\n') != text.npos) continue;  // may mean a new text
    if (!written.normalizes) text = normalized(tokenizer, text);
    require(again.encode(text) == tokenizer.encode(text),
            "a GGUF file cannot hold this tokenizer: {} would have other tokens", quoted(text));
  }
  const auto& added = tokenizer.added_tokens();
  for (const int32_t id : added) {
    if (!tokenizer.is_special(id)) continue;
    const std::string text = fmt::format("a{}b c", tokenizer.piece(id));
    if (again.encode(text) != tokenizer.encode(text))
      return fmt::format("text after a special token has other tokens in the GGUF file: {}",
                         quoted(text));
  }
  return {};
}

}  // namespace heed::text

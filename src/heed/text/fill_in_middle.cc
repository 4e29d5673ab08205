#include "heed/text/fill_in_middle.h"

#include <initializer_list>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

/// A character that no piece of a vocabulary of code joins with its neighbours.
constexpr std::string_view kUnjoined = "☺";
constexpr std::string_view kWordSpace = "▁";

/// Appends the tokens of a text in which nothing is a special token.
class PlainText {
 public:
  explicit PlainText(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
    for (const int32_t id : tokenizer.added_tokens())
      if (tokenizer.is_special(id)) special_.insert(id);
    marker_ = encode(kUnjoined);
    adds_space_ = !marker_.empty() && tokenizer.piece(marker_.front()).starts_with(kWordSpace);
  }

  std::vector<int32_t> encode(std::string_view text) const {
    const TextSpan all{0, text.size()};
    return tokenizer_.encode(text, UntrustedParts{{&all, 1}, special_});
  }

  /// Without the space that SentencePiece has before a text, as CodeLlama was trained.
  std::vector<int32_t> encode_after_token(std::string_view text) const {
    if (!adds_space_ || text.empty()) return encode(text);
    std::vector<int32_t> ids = encode(std::string(kUnjoined) + std::string(text));
    ids.erase(ids.begin(), ids.begin() + std::ssize(marker_));
    return ids;
  }

 private:
  const Tokenizer& tokenizer_;
  std::unordered_set<int32_t> special_;
  std::vector<int32_t> marker_;
  bool adds_space_ = false;
};

void append(std::vector<int32_t>& ids, const std::vector<int32_t>& more) {
  ids.insert(ids.end(), more.begin(), more.end());
}

}  // namespace

FillInMiddleTokens with_usual_tokens(
    FillInMiddleTokens named, const std::function<std::optional<int32_t>(std::string_view)>& find) {
  const auto complete = [&](std::optional<int32_t>& id,
                            std::initializer_list<std::string_view> usual) {
    for (const std::string_view piece : usual)
      if (!id) id = find(piece);
  };
  complete(named.prefix, {"<|fim_prefix|>", "<fim_prefix>", "<fim-prefix>", "▁<PRE>", "<PRE>",
                          "<｜fim▁begin｜>", "<|code_prefix|>"});
  complete(named.suffix, {"<|fim_suffix|>", "<fim_suffix>", "<fim-suffix>", "▁<SUF>", "<SUF>",
                          "<｜fim▁hole｜>", "<|code_suffix|>"});
  complete(named.middle, {"<|fim_middle|>", "<fim_middle>", "<fim-middle>", "▁<MID>", "<MID>",
                          "<｜fim▁end｜>", "<|code_middle|>"});
  if (!named.prefix || !named.suffix || !named.middle) return {};
  complete(named.repository, {"<|repo_name|>", "<repo_name>", "<reponame>"});
  complete(named.file, {"<|file_sep|>", "<file_sep>"});
  return named;
}

std::vector<int32_t> fill_in_middle_prompt(const Tokenizer& tokenizer, const TextWithGap& text) {
  const FillInMiddleTokens& tokens = tokenizer.fill_in_middle();
  require_input(tokens.prefix.has_value(),
                "the model's tokenizer has no tokens for filling in the middle, such as "
                "<|fim_prefix|>, <|fim_suffix|> and <|fim_middle|>");
  require_input(text.files.empty() || tokens.file,
                "the model's tokenizer has no token for other files, such as <|file_sep|>");
  require_utf8(text.prefix, "the prefix");
  require_utf8(text.suffix, "the suffix");
  require_utf8(text.middle, "the middle");
  const PlainText plain(tokenizer);
  std::vector<int32_t> ids;
  if (const auto bos = tokenizer.special_tokens().bos; bos) {
    const std::vector<int32_t> around = tokenizer.encode("");
    if (!around.empty() && around.front() == *bos) ids.push_back(*bos);
  }
  // The names of repository and file are those of llama.cpp, which knows no others either.
  if (!text.files.empty() && tokens.repository) {
    ids.push_back(*tokens.repository);
    append(ids, plain.encode_after_token("myproject\n"));
  }
  for (const auto& [name, contents] : text.files) {
    require_utf8(name, "the name of a file");
    require_utf8(contents, "a file");
    ids.push_back(*tokens.file);
    append(ids, plain.encode_after_token(name + "\n"));
    append(ids, plain.encode_after_token(contents));
  }
  if (!text.files.empty()) {
    ids.push_back(*tokens.file);
    append(ids, plain.encode_after_token("filename\n"));
  }
  ids.push_back(*tokens.prefix);
  append(ids, text.prefix.empty() ? std::vector<int32_t>() : plain.encode(text.prefix));
  ids.push_back(*tokens.suffix);
  append(ids, plain.encode_after_token(text.suffix));
  ids.push_back(*tokens.middle);
  append(ids, plain.encode_after_token(text.middle));
  return ids;
}

}  // namespace heed::text

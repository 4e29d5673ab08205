#include "heed/text/training/train_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/mutex.h"
#include "heed/base/parallel.h"
#include "heed/base/quote.h"
#include "heed/base/reader_limits.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/files/bpe_json.h"
#include "heed/text/files/tokenizer_path.h"
#include "heed/text/pre_tokenizers/pre_tokenizer.h"
#include "heed/text/sentencepiece.h"
#include "heed/text/text_size.h"
#include "heed/text/training/learn_bpe.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

const std::string kName = "the tokenizer just learned";

/// GPT-2's characters for bytes in the order of their code points.
std::vector<std::string> byte_characters() {
  std::vector<std::string> characters;
  for (int byte = 0; byte < 256; ++byte)
    append_byte_characters(characters.emplace_back(), std::string(1, static_cast<char>(byte)));
  std::sort(characters.begin(), characters.end());  // UTF-8 sorts by code point
  return characters;
}

void check_options(const TrainTokenizerOptions& options) {
  const int64_t least = 256 + std::ssize(options.special_tokens);
  require(options.vocab_size >= least && options.vocab_size < limits::kMaxTokenIds,
          "a vocabulary of {} tokens, expected {} (bytes and special tokens) to {}",
          options.vocab_size, least, limits::kMaxTokenIds - 1);
  require(options.min_frequency >= 0, "min_frequency is {}, expected at least 0",
          options.min_frequency);
  std::unordered_set<std::string> tokens;
  for (const std::string& token : options.special_tokens)
    require(!token.empty() && is_valid_utf8(token) && tokens.insert(token).second,
            "a special token is {}, expected valid UTF-8 and each token once", quoted(token));
}

void count_words_of(const std::string& text, const PreTokenizer& pre_tokenizer,
                    WordCounts& counts) {
  if (text.empty()) return;
  TextPieces pieces{{{with_replacements(text), code_point_at(text, 0).length}, std::nullopt}};
  pre_tokenizer.apply(pieces, max_text_size(pieces.front().text.text.size()));
  for (TextPiece& piece : pieces) ++counts[std::move(piece.text.text)];
}

/// How often each word occurs in `texts`, as the pre-tokenizer splits and writes them. Malformed
/// UTF-8 is read as with_replacements() does. Computes on the threads of the current Executor.
WordCounts count_words(const std::vector<std::string>& texts, const PreTokenizer& pre_tokenizer) {
  constexpr int64_t kTexts = 4096;  // of a chunk, whose words are added to the others at once
  WordCounts total;
  Mutex adding;
  parallel_for(static_cast<int64_t>(texts.size()), kTexts, [&](int64_t begin, int64_t end) {
    WordCounts counts;
    for (int64_t i = begin; i < end; ++i)
      count_words_of(texts[static_cast<size_t>(i)], pre_tokenizer, counts);
    const MutexLock lock(adding);
    if (total.empty()) total.swap(counts);
    for (const auto& [word, count] : counts) total[word] += count;
  });
  return total;
}

Tokenizer train_byte_level_bpe(const std::vector<std::string>& texts,
                               const TrainTokenizerOptions& options) {
  check_options(options);
  const NamedSplit split = named_split(options.pre_tokenizer, "training");
  nlohmann::json json = {{"version", "1.0"},
                         {"truncation", nullptr},
                         {"padding", nullptr},
                         {"added_tokens", nlohmann::json::array()},
                         {"normalizer", nullptr},
                         {"pre_tokenizer", byte_level_pre_tokenizer(split, false)},
                         {"post_processor", nullptr},
                         {"decoder", byte_level_step(false)},
                         {"model", bpe_model_json(std::nullopt, false, split.ignore_merges)}};
  const WordCounts words = count_words(texts, *read_pre_tokenizer(json["pre_tokenizer"], kName));
  require(!words.empty(), "no text to learn a vocabulary from: {} texts, all of them empty",
          texts.size());
  std::vector<std::string> first = options.special_tokens;
  for (std::string& character : byte_characters()) first.push_back(std::move(character));
  const LearnedBpe learned =
      learn_bpe(words, std::move(first), options.vocab_size, options.min_frequency);
  for (size_t id = 0; id < options.special_tokens.size(); ++id)
    json["added_tokens"].push_back(added_token_json(id, options.special_tokens[id], true));
  for (size_t id = 0; id < learned.pieces.size(); ++id)
    json["model"]["vocab"][learned.pieces[id]] = id;
  const auto piece = [&](int32_t id) { return learned.pieces[static_cast<size_t>(id)]; };
  for (const auto& [left, right] : learned.merges)
    json["model"]["merges"].push_back({piece(left), piece(right)});
  return Tokenizer::from_json(json, kName);
}

}  // namespace

Tokenizer train_tokenizer(const std::vector<std::string>& texts,
                          const TrainTokenizerOptions& options) {
  using Kind = TrainTokenizerOptions::Kind;
  if (options.kind == Kind::byte_level_bpe) return train_byte_level_bpe(texts, options);
  require(options.vocab_size < limits::kMaxTokenIds,
          "a vocabulary of {} tokens, expected at most {}", options.vocab_size,
          limits::kMaxTokenIds - 1);
  SentencePiece::TrainOptions training;
  training.kind = options.kind == Kind::bpe ? SentencePiece::TrainOptions::Kind::bpe
                                            : SentencePiece::TrainOptions::Kind::unigram;
  training.vocab_size = static_cast<int>(std::max<int64_t>(options.vocab_size, 0));
  training.character_coverage = options.character_coverage;
  return sentencepiece_tokenizer(SentencePiece::train(texts, training).serialized(), kName);
}

}  // namespace heed::text

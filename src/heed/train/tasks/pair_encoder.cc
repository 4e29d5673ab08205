#include "heed/train/tasks/pair_encoder.h"

#include "heed/base/error.h"
#include "heed/text/language_codes.h"
#include "heed/train/config/config.h"

namespace heed::train {
namespace {

/// The model's code for a language: "eng_Latn" for "en". Only a code that a corpus names must be
/// one of them; the extension of a file may be anything.
std::string code_among(const text::LanguageTokens::Codes& codes, const std::string& language,
                       const std::string& named) {
  if (codes.empty()) return {};
  const std::string code = text::code_of_language(text::names_of(codes), language);
  return code.empty() ? named : code;
}

text::LanguagePair languages_among(const text::LanguageTokens& known, const data::Corpus& corpus) {
  const text::LanguagePair languages = languages_of(corpus);
  return {code_among(known.source_codes(), languages.source, corpus.source_language),
          code_among(known.codes(), languages.target, corpus.target_language)};
}

/// The word of each token; -1 for tokens that belong to no text.
template <typename PieceOf>
std::vector<int32_t> words_of(const std::vector<int32_t>& tokens,
                              const text::TranslationTokenizer& tokenizer,
                              const PieceOf& piece_of) {
  std::vector<int32_t> text;
  for (const int32_t token : tokens)
    if (!tokenizer.is_special(token)) text.push_back(token);
  const std::vector<int32_t> numbers = data::word_numbers(text, piece_of);
  std::vector<int32_t> words;
  auto next = numbers.begin();
  for (const int32_t token : tokens) words.push_back(tokenizer.is_special(token) ? -1 : *next++);
  return words;
}

/// The links between tokens for those between words.
std::vector<data::Link> links_of_tokens(const std::vector<data::Link>& words,
                                        const data::Example& tokens,
                                        const text::TranslationTokenizer& tokenizer) {
  return data::token_links(
      words,
      words_of(tokens.source, tokenizer,
               [&](int32_t token) { return tokenizer.source_piece(token); }),
      words_of(tokens.target, tokenizer, [&](int32_t token) { return tokenizer.piece(token); }));
}

}  // namespace

PairEncoder::PairEncoder(const text::ModelTokenizer& tokenizer, const model::ModelConfig& model,
                         const data::Corpus& corpus)
    : tokenizer_(tokenizer), prompt_{model.decoder_start_id} {
  const text::LanguagePair named = languages_of(corpus);
  if (!named.source.empty() && !named.target.empty())
    direction_ = fmt::format("{}-{}", named.source, named.target);
  const text::TranslationTokenizer* two = tokenizer.translation_tokenizer();
  if (two == nullptr || two->languages().empty()) return;
  languages_ = languages_among(two->languages(), corpus);
  try {
    prompt_ = two->start_of_target(languages_, model.decoder_start_id, -1);
    // The sources of OPUS-MT may name the language themselves.
    if (two->languages().layout() != text::LanguageTokens::Layout::target_in_source ||
        !languages_.target.empty())
      two->encode_source("", languages_);
  } catch (const Error& error) {
    fail("{}: {}", corpus.tsv.empty() ? corpus.source : corpus.tsv, error.what());
  }
}

data::Example PairEncoder::operator()(const data::SentencePair& pair) const {
  const text::TranslationTokenizer* two = tokenizer_.translation_tokenizer();
  if (two == nullptr)
    return {tokenizer_.encode_source(pair.source), tokenizer_.encode_target(pair.target)};
  data::Example example{two->encode_source(pair.source, languages_),
                        two->encode_target(pair.target, languages_)};
  if (!two->languages().empty()) example.start = prompt_.front();
  if (!pair.links.empty()) example.links = links_of_tokens(pair.links, example, *two);
  return example;
}

}  // namespace heed::train

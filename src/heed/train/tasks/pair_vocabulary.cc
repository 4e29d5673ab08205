#include "heed/train/tasks/pair_vocabulary.h"

#include <set>

#include "heed/base/error.h"
#include "heed/train/tasks/vocabulary.h"

namespace heed::train {
namespace {

using Pairs = std::vector<data::SentencePair>;

std::vector<std::string> sentences_of(const Pairs& pairs) {
  std::vector<std::string> sentences;
  for (const data::SentencePair& pair : pairs) {
    sentences.push_back(pair.source);
    sentences.push_back(pair.target);
  }
  return sentences;
}

/// The languages of one side of the corpora, each once, in alphabetical order.
std::vector<std::string> languages_of_side(const DataConfig& data,
                                           std::string text::LanguagePair::*side) {
  std::set<std::string> languages;
  for (const data::Corpus& corpus : training_corpora(data))
    languages.insert(languages_of(corpus).*side);
  return {languages.begin(), languages.end()};
}

/// A tokenizer of new pieces with the tokens of the languages that the configuration asks for.
text::TranslationTokenizer with_languages(const text::SentencePiece& pieces,
                                          const DataConfig& data) {
  std::vector<std::string> targets, sources;
  if (data.languages != LanguageTags::none)
    targets = languages_of_side(data, &text::LanguagePair::target);
  if (data.languages == LanguageTags::both)
    sources = languages_of_side(data, &text::LanguagePair::source);
  return text::TranslationTokenizer::shared(pieces, targets, sources);
}

/// Throws Error unless the languages of an existing vocabulary are named as asked for.
void check_languages_of(const text::TranslationTokenizer& tokenizer, LanguageTags tags,
                        const std::filesystem::path& start) {
  using enum text::LanguageTokens::Layout;
  if (tags == LanguageTags::none) return;
  const auto layout = tags == LanguageTags::target ? target_in_source : both_in_source;
  const text::LanguageTokens& languages = tokenizer.languages();
  require(!languages.empty() && languages.layout() == layout,
          "data.languages is {}, and the vocabulary of {} {}", name_of(tags), start.string(),
          languages.empty() ? "has no languages" : "has its own way to name languages");
}

text::TranslationTokenizer learn_translation_tokenizer(const TrainConfig& config,
                                                       const Pairs& sample, Observer& observer) {
  if (!config.vocabulary.model.empty())
    return with_languages(text::SentencePiece::load(config.vocabulary.model), config.data);
  using Options = text::SentencePiece::TrainOptions;
  Options options;
  options.kind = config.vocabulary.kind == "bpe" ? Options::Kind::bpe : Options::Kind::unigram;
  options.vocab_size = static_cast<int>(config.vocabulary.size);
  const text::SentencePiece pieces = text::SentencePiece::train(sentences_of(sample), options);
  text::TranslationTokenizer tokenizer = with_languages(pieces, config.data);
  std::string line =
      fmt::format("vocabulary: {} {} pieces, shared by {} languages", pieces.vocab_size(),
                  config.vocabulary.kind, config.data.corpora.size() > 1 ? "all" : "both");
  if (const text::LanguageTokens& languages = tokenizer.languages(); !languages.empty())
    line += fmt::format("; translates into {}", fmt::join(text::names_of(languages.codes()), ", "));
  observer.log(line);
  return tokenizer;
}

/// The id of a piece; -1 if there is none.
int32_t id_of(const text::TranslationTokenizer& tokenizer, std::string_view piece) {
  for (int32_t token = 0; token < tokenizer.vocab_size(); ++token)
    if (tokenizer.piece(token) == piece) return token;
  return -1;
}

/// Sets the special tokens of `model` to those of an existing SentencePiece model. Decoders start
/// with <pad>, as Marian's do, or else with <s> or </s>.
void take_special_pieces(const text::TranslationTokenizer& tokenizer, model::ModelConfig& model) {
  model.eos_id = id_of(tokenizer, "</s>");
  model.pad_id = model.eos_id;
  for (const char* piece : {"<s>", "<pad>"})
    if (const int32_t token = id_of(tokenizer, piece); token >= 0) model.pad_id = token;
  model.decoder_start_id = model.pad_id;
}

}  // namespace

PairTokenizer prepare_pair_tokenizer(const TrainConfig& config, const Pairs& sample,
                                     const std::filesystem::path& start, model::ModelConfig& model,
                                     Observer& observer) {
  const bool two_sided = !start.empty() && (text::TranslationTokenizer::exists(start) ||
                                            text::TranslationTokenizer::is_multilingual(start));
  if (config.run.task == TaskKind::text_to_text && !two_sided) {
    TokenizerWithFiles one =
        prepare_tokenizer(config, start, sentences_of(sample), model, observer);
    return {text::ModelTokenizer(std::move(one.tokenizer)), std::move(one.files)};
  }
  auto two = start.empty() ? learn_translation_tokenizer(config, sample, observer)
                           : text::TranslationTokenizer::load(start);
  if (start.empty()) {
    take_new_vocabulary(two.vocab_size(), config.run.task, model);
    if (!config.vocabulary.model.empty()) take_special_pieces(two, model);
  } else {
    check_languages_of(two, config.data.languages, start);
    take_vocabulary(start, model);
  }
  std::vector<checkpoint::NamedFile> files = two.files();
  return {text::ModelTokenizer(std::move(two)), std::move(files)};
}

}  // namespace heed::train

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <numeric>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/text/sentencepiece.h"

namespace heed::text {
namespace {

using Options = SentencePiece::TrainOptions;

/// Hands chosen sentences to the library, which takes them from memory in this way alone.
class ChosenSentences : public sentencepiece::SentenceIterator {
 public:
  ChosenSentences(const std::vector<std::string>& sentences, std::vector<size_t> chosen)
      : sentences_(sentences), chosen_(std::move(chosen)) {}

  bool done() const override { return next_ >= chosen_.size(); }
  void Next() override { ++next_; }
  const std::string& value() const override { return sentences_[chosen_[next_]]; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& sentences_;
  std::vector<size_t> chosen_;
  size_t next_ = 0;
};

/// The positions of at most `max_sentences` of `count` sentences, in their order.
std::vector<size_t> choose(size_t count, const Options& options) {
  std::vector<size_t> positions(count);
  std::iota(positions.begin(), positions.end(), size_t{0});
  const auto wanted = static_cast<size_t>(options.max_sentences);
  if (count <= wanted) return positions;
  const CounterRandom random(options.seed);
  const auto drawn_before = [&](size_t a, size_t b) {
    const uint64_t left = random.bits(a), right = random.bits(b);
    return left != right ? left < right : a < b;
  };
  const auto end = positions.begin() + static_cast<std::ptrdiff_t>(wanted);
  std::nth_element(positions.begin(), end, positions.end(), drawn_before);
  positions.resize(wanted);
  std::sort(positions.begin(), positions.end());
  return positions;
}

std::unordered_map<std::string, std::string> library_options(const Options& options) {
  return {
      {"model_type", options.kind == Options::Kind::bpe ? "bpe" : "unigram"},
      {"vocab_size", std::to_string(options.vocab_size)},
      {"hard_vocab_limit", "false"},
      {"character_coverage", std::to_string(options.character_coverage)},
      {"pad_id", "0"},
      {"eos_id", "1"},
      {"unk_id", "2"},
      {"bos_id", "-1"},
      // Longer sentences are left out in silence: none is.
      {"max_sentence_length", "1000000000"},
      {"shuffle_input_sentence", "false"},
      // Expected counts are summed thread by thread, so this number is part of the result: it must
      // not follow the machine.
      {"num_threads", "16"},
      {"minloglevel", "3"},
  };
}

}  // namespace

SentencePiece SentencePiece::train(const std::vector<std::string>& sentences,
                                   const TrainOptions& options) {
  require(options.vocab_size >= 4, "a vocabulary of {} pieces is too small, expected at least 4",
          options.vocab_size);
  require(options.character_coverage > 0 && options.character_coverage <= 1,
          "character coverage is {}, expected more than 0 and at most 1",
          options.character_coverage);
  require(options.max_sentences > 0, "max_sentences is {}, expected at least 1",
          options.max_sentences);
  const auto says_something = [](const std::string& sentence) {
    return sentence.find_first_not_of(" \t\r\n") != std::string::npos;
  };
  require(std::any_of(sentences.begin(), sentences.end(), says_something),
          "no text to learn a vocabulary from: {} sentences, all empty", sentences.size());

  ChosenSentences chosen(sentences, choose(sentences.size(), options));
  std::string serialized;
  const auto status =
      sentencepiece::SentencePieceTrainer::Train(library_options(options), &chosen, &serialized);
  require(status.ok(), "cannot learn a vocabulary of {} pieces from {} sentences: {}",
          options.vocab_size, sentences.size(), status.error_message());
  return from_bytes(std::move(serialized), "the vocabulary just learned");
}

}  // namespace heed::text

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/random.h"
#include "heed/text/sentencepiece.h"

namespace heed::text {
namespace {

using Options = SentencePiece::TrainOptions;

/// The library ends the program on a word of 65536 characters after normalisation, which makes at
/// most 18 characters of one (U+FDFA, three bytes); and long repetitions take it quadratic time.
constexpr size_t kLongestSlice = 4096;  // bytes

/// Takes from the front of `rest` what the library gets as one sentence: all of it, or what fits,
/// cut at a space where there is one and between code points elsewhere.
std::string_view take_slice(std::string_view& rest) {
  size_t length = rest.size();
  if (length > kLongestSlice) {
    const size_t space = rest.rfind(' ', kLongestSlice - 1);
    length = space == std::string_view::npos ? kLongestSlice : space + 1;
    while (length > kLongestSlice - 3 && (static_cast<uint8_t>(rest[length]) & 0xC0) == 0x80)
      --length;
  }
  const std::string_view slice = rest.substr(0, length);
  rest.remove_prefix(length);
  return slice;
}

/// Hands chosen sentences to the library, which takes them from memory in this way alone.
class ChosenSentences : public sentencepiece::SentenceIterator {
 public:
  ChosenSentences(const std::vector<std::string>& sentences, std::vector<size_t> chosen)
      : sentences_(sentences), chosen_(std::move(chosen)) {
    Next();
  }

  bool done() const override { return done_; }
  void Next() override {
    while (rest_.empty() && next_ < chosen_.size()) rest_ = sentences_[chosen_[next_++]];
    done_ = rest_.empty();
    value_ = take_slice(rest_);
  }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& sentences_;
  std::vector<size_t> chosen_;
  size_t next_ = 0;
  bool done_ = false;
  std::string_view rest_;  // of the sentence before next_
  std::string value_;
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
      {"shuffle_input_sentence", "false"},
      // Expected counts are summed thread by thread, so this number is part of the result: it must
      // not follow the machine.
      {"num_threads", "16"},
      {"minloglevel", "3"},
  };
}

/// The library's message without the source position and the condition it starts with.
std::string_view reason(std::string_view message) {
  const size_t end = message.find(")] ");
  return end == std::string_view::npos ? message : message.substr(end + 3);
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
          options.vocab_size, sentences.size(), reason(status.error_message()));
  return from_bytes(std::move(serialized), "the vocabulary just learned");
}

}  // namespace heed::text

#include <sentencepiece_trainer.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_map>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/random.h"
#include "heed/text/sentencepiece.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

using Options = SentencePiece::TrainOptions;

/// The library ends the program on a word that has 65536 characters after normalisation, which
/// turns one character into up to 18 (U+FDFA, three bytes). It also takes quadratic time on long
/// repetitions.
constexpr size_t kLongestSlice = 4096;  // bytes

/// Takes from the front of `rest` the bytes that the library gets as one sentence: at most
/// kLongestSlice, split at a space if there is one, else between code points.
std::string_view take_slice(std::string_view& rest) {
  size_t length = rest.size();
  if (length > kLongestSlice) {
    const size_t space = rest.rfind(' ', kLongestSlice - 1);
    length = space == std::string_view::npos ? kLongestSlice : space + 1;
    while (length > kLongestSlice - 3 && is_continuation(rest[length])) --length;
  }
  const std::string_view slice = rest.substr(0, length);
  rest.remove_prefix(length);
  return slice;
}

/// Feeds the sampled sentences to the library. An iterator is its only interface to memory.
class SampledSentences : public sentencepiece::SentenceIterator {
 public:
  SampledSentences(const std::vector<std::string>& sentences, std::vector<size_t> sampled)
      : sentences_(sentences), sampled_(std::move(sampled)) {
    Next();
  }

  bool done() const override { return done_; }
  void Next() override {
    while (rest_.empty() && next_ < sampled_.size()) rest_ = sentences_[sampled_[next_++]];
    done_ = rest_.empty();
    value_ = take_slice(rest_);
  }
  const std::string& value() const override { return value_; }
  sentencepiece::util::Status status() const override { return {}; }

 private:
  const std::vector<std::string>& sentences_;
  std::vector<size_t> sampled_;
  size_t next_ = 0;
  bool done_ = false;
  std::string_view rest_;  // of the sentence before next_
  std::string value_;
};

/// Whether the library's normalisation (nmt_nfkc) removes a code point or turns it into a space.
/// The library ends the program when a text has no others.
bool becomes_blank(char32_t value) {
  const auto is_from = [&](char32_t first, char32_t last) {
    return first <= value && value <= last;
  };
  const bool removed = is_from(0x01, 0x08) || value == 0x0B || is_from(0x0E, 0x1F) ||
                       value == 0x7F || value == 0x8F || value == 0x9F;
  const bool space = is_from('\t', '\r') || value == ' ' || value == 0xA0 || value == 0x1680 ||
                     is_from(0x2000, 0x200C) || value == 0x200E || value == 0x200F ||
                     value == 0x2028 || value == 0x2029 || value == 0x202F || value == 0x205F ||
                     value == 0x2581 || value == 0x3000 || value == 0xFEFF || value == 0xFFFD;
  return removed || space;
}

bool becomes_blank(const std::string& sentence) {
  bool blank = true;
  for_each_code_point(sentence, [&](const CodePoint& point, std::string_view) {
    blank = blank && point.valid && becomes_blank(point.value);
  });
  return blank;
}

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
      {"character_coverage", fmt::format("{:f}", options.character_coverage)},
      {"pad_id", "0"},
      {"eos_id", "1"},
      {"unk_id", "2"},
      {"bos_id", "-1"},
      {"shuffle_input_sentence", "false"},
      // The number of threads changes the order of a sum and with it the result, so it must not
      // depend on the machine.
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
  const std::vector<size_t> positions = choose(sentences.size(), options);
  const bool all_blank = std::all_of(positions.begin(), positions.end(), [&](size_t position) {
    return becomes_blank(sentences[position]);
  });
  require(!all_blank,
          "no text to learn a vocabulary from: {} sentences, all of them empty or blank",
          positions.size());

  SampledSentences sampled(sentences, positions);
  std::string serialized;
  const auto status =
      sentencepiece::SentencePieceTrainer::Train(library_options(options), &sampled, &serialized);
  require(status.ok(), "cannot learn a vocabulary of {} pieces from {} sentences: {}",
          options.vocab_size, sentences.size(), one_line(reason(status.error_message())));
  return from_bytes(std::move(serialized), "the vocabulary just learned");
}

}  // namespace heed::text

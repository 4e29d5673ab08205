#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/executor.h"
#include "heed/export.h"

namespace heed {

class Tokenizer;

namespace text {
class DecodeStream;
class Tokenizer;
const Tokenizer& unwrapped(const heed::Tokenizer& tokenizer);
heed::Tokenizer wrapped(const Tokenizer& tokenizer);
}  // namespace text

/// The ids of the special tokens by their role; none where a tokenizer has no such token.
struct SpecialTokens {
  /// Begin and end of a sequence, padding, unknown, mask, separator, and the first token of BERT's.
  std::optional<int32_t> bos, eos, pad, unk, mask, sep, cls;
};

/// A token that is found in a text before the text is cut into pieces, such as <s>.
struct AddedToken {
  int32_t id = 0;        // in the vocabulary
  std::string content;   // as it stands in a text
  bool special = false;  // left out of a decoded text unless it is asked for
};

/// The part [begin, end) of a text.
struct TokenOffsets {
  size_t begin = 0, end = 0;  // in bytes or code points (OffsetUnit)

  friend bool operator==(const TokenOffsets&, const TokenOffsets&) = default;
};

/// The unit of offsets. Python's `tokenizers` counts code points.
enum class OffsetUnit { bytes, code_points };

/// Options of encoding a text.
struct EncodeOptions {
  bool special = true;     // with the tokens that belong around a text ([CLS] .. [SEP], <s>)
  int64_t max_tokens = 0;  // the largest number of tokens, special ones included; 0: no limit
  OffsetUnit offsets = OffsetUnit::bytes;  // the unit of Encoding::offsets
};

/// The tokens of a text or of a pair of texts.
struct Encoding {
  std::vector<int32_t> ids;       // [T]
  std::vector<int32_t> type_ids;  // [T] the segment: 0, or 1 for what belongs to the second text
  std::vector<int32_t> sequence_ids;  // [T] the text: 0 or 1, or -1 for an added special token
  /// [T] The part of its text that a token comes from, as Python's `tokenizers` aligns them: whole
  /// code points, of which several tokens may have the same. {0, 0} for an added special token.
  std::vector<TokenOffsets> offsets;
};

/// Options of Tokenizer::train().
struct TrainTokenizerOptions {
  /// The algorithms.
  enum class Kind {
    byte_level_bpe,  // byte-pair encoding of bytes, saved as tokenizer.json (GPT-2, Llama 3)
    bpe,      // byte-pair encoding of characters (Sennrich et al. 2016), as a SentencePiece model
    unigram,  // the language model of Kudo (2018), saved as a SentencePiece model
  };
  Kind kind = Kind::byte_level_bpe;  // of the tokenizer
  int64_t vocab_size = 8000;         // the number of tokens; a small text may give fewer
  // Of byte_level_bpe:
  std::vector<std::string> special_tokens = {"<|endoftext|>"};  // get the first ids
  /// The name that llama.cpp has for the pattern that cuts text into words: "gpt-2", "llama-bpe",
  /// "qwen2", "gpt-4o", "deepseek-v3", ...
  std::string pre_tokenizer = "gpt-2";
  int64_t min_frequency = 0;  // pairs that occur less often are not merged
  // Of bpe and unigram:
  double character_coverage = 1;  // share of the text's characters that get a token
};

/// Text to token ids and back, with the ids of Python's `tokenizers`. Immutable; copies share
/// everything, and any number of threads may use one at once.
///
/// Texts may hold any bytes: malformed UTF-8 is read as Python's bytes.decode("utf-8", "replace")
/// reads it. Special tokens in a text are recognised. Truncation and padding that a tokenizer.json
/// specifies are left to the caller, as in `transformers`.
class HEED_EXPORT Tokenizer {
 public:
  /// Reads the tokenizer of a Hugging Face model directory, a tokenizer.json, a SentencePiece model
  /// (.model, .spm) or a GGUF file. A SentencePiece model has no special tokens around a text.
  /// Throws Error when there is no tokenizer or when it is damaged, and on a translation model with
  /// a vocabulary for each side.
  static Tokenizer load(const std::filesystem::path& path);
  /// Learns a tokenizer from texts (lines, sentences or documents). The result is a pure function
  /// of texts and options; for byte_level_bpe it has the merges and ids that Python's `tokenizers`
  /// learns. Words are counted on the threads of Executor::shared(). Throws Error when options are
  /// out of range and when there is no text.
  static Tokenizer train(const std::vector<std::string>& texts,
                         const TrainTokenizerOptions& options = {});

  Tokenizer(const Tokenizer&) = default;
  Tokenizer& operator=(const Tokenizer&) = default;
  ~Tokenizer();

  /// The ids of a text. Throws Error on a character outside the vocabulary when there is no unknown
  /// token, and when a damaged tokenizer lets the text grow without bounds or takes too long to cut
  /// it.
  std::vector<int32_t> encode(std::string_view text, bool special = true) const;
  /// The same for many texts, on the threads of `executor`, or else of Executor::shared().
  std::vector<std::vector<int32_t>> encode_batch(
      std::span<const std::string> texts, bool special = true,
      const std::shared_ptr<Executor>& executor = nullptr) const;
  /// The tokens of a text with their places. Beyond max_tokens the text loses its end. Throws Error
  /// as encode() does.
  Encoding encode_with_offsets(std::string_view text, const EncodeOptions& options = {}) const;
  /// The tokens of two texts, which cross-encoders read. Beyond max_tokens the longer text loses
  /// its end, then both do, as with "longest_first" of `transformers`. Throws Error as encode()
  /// does, and when the tokenizer cannot join texts.
  Encoding encode_pair(std::string_view first, std::string_view second,
                       const EncodeOptions& options = {}) const;
  /// encode_with_offsets() of many texts, on threads as encode_batch().
  std::vector<Encoding> encode_batch_with_offsets(
      std::span<const std::string> texts, const EncodeOptions& options = {},
      const std::shared_ptr<Executor>& executor = nullptr) const;

  /// The text of ids, valid UTF-8. Ids without a token are left out, and special tokens if
  /// `skip_special`.
  std::string decode(std::span<const int32_t> ids, bool skip_special = true) const;

  /// The token of an id, as the vocabulary has it ("Ġthe"). Throws Error when there is none.
  const std::string& token(int32_t id) const;
  /// The id of a token as the vocabulary has it; none if it does not.
  std::optional<int32_t> token_id(std::string_view token) const;
  /// The highest id plus one.
  int64_t vocab_size() const;
  /// The special tokens by their role.
  const SpecialTokens& special_tokens() const;
  /// Whether an id is that of a special token, which decode() leaves out.
  bool is_special(int32_t id) const;
  /// The added tokens, in the order of their ids.
  std::vector<AddedToken> added_tokens() const;

  /// The files that load() read, or for a GGUF file or a trained tokenizer those that say the same:
  /// name and contents. Throws Error on a GGUF file whose tokenizer has no other form.
  const std::vector<std::pair<std::string, std::string>>& files() const;
  /// What the files say that has no effect, one sentence for each: "FILE: KEY is VALUE and is
  /// ignored: WHY". Empty for most tokenizers.
  const std::vector<std::string>& warnings() const;
  /// Writes files() into a directory, which is created if it does not exist; load() reads the same
  /// tokenizer there. Throws Error with the reason of the system.
  void save(const std::filesystem::path& directory) const;

 private:
  explicit Tokenizer(text::Tokenizer tokenizer);
  friend const text::Tokenizer& text::unwrapped(const Tokenizer& tokenizer);
  friend Tokenizer text::wrapped(const text::Tokenizer& tokenizer);

  std::shared_ptr<const text::Tokenizer> tokenizer_;
};

/// Decodes ids one by one and returns text as soon as later ids cannot change it. The concatenation
/// of what feed() and finish() return is what decode() makes of all ids, except that a different
/// number of U+FFFD may stand for tokens of bytes that are not valid UTF-8.
class HEED_EXPORT DecodeStream {
 public:
  /// Special tokens are left out if `skip_special`.
  explicit DecodeStream(const Tokenizer& tokenizer, bool skip_special = true);
  DecodeStream(DecodeStream&&) noexcept;
  DecodeStream& operator=(DecodeStream&&) noexcept;
  ~DecodeStream();

  /// The text that has become certain: whole code points, often none.
  std::string feed(int32_t id);
  /// The rest of the text. The stream is then as new.
  std::string finish();

 private:
  std::unique_ptr<text::DecodeStream> stream_;
};

}  // namespace heed

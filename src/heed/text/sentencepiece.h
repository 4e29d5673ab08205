#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heed::text {

/// A SentencePiece model (Kudo and Richardson, 2018): text to numbered pieces and back. Immutable;
/// copies share the model and any number of threads may use one at once.
class SentencePiece {
 public:
  struct TrainOptions {
    /// bpe: byte-pair encoding (Sennrich et al., 2016); unigram: the language model of Kudo (2018).
    enum class Kind { bpe, unigram };
    Kind kind = Kind::bpe;
    int vocab_size = 8000;
    /// Share of the text's characters that get a piece; the rest becomes <unk>. 0.9995 suits
    /// scripts with thousands of characters.
    double character_coverage = 1.0;
    /// If there are more sentences, a random sample of this size is used, drawn by the seed.
    int64_t max_sentences = 10'000'000;
    uint64_t seed = 1;
  };

  /// Reads a .model file. Throws Error when it is missing or is not a usable model.
  static SentencePiece load(const std::filesystem::path& path);
  /// The same from the bytes of such a file; `name` is its name in messages.
  static SentencePiece from_bytes(std::string serialized,
                                  const std::string& name = "SentencePiece model");
  /// Learns the pieces of `sentences`: <pad> is 0, </s> 1, <unk> 2, there is no start piece, and
  /// text is normalised by the library's default, nmt_nfkc (NFKC, runs of white space made one
  /// space). A text too small for vocab_size pieces gives fewer: see vocab_size(). The result is a
  /// pure function of sentences and options. Throws Error when nothing is left of the text after
  /// normalisation, or when vocab_size is smaller than the number of its characters.
  static SentencePiece train(const std::vector<std::string>& sentences,
                             const TrainOptions& options);

  /// The ids of the pieces, without end of sequence. Any bytes may be given: malformed UTF-8 is
  /// read as U+FFFD, and the names of special pieces ("</s>") are plain text.
  std::vector<int32_t> encode(std::string_view text) const;
  /// The pieces themselves; an unknown one is the text that it covers.
  std::vector<std::string> encode_pieces(std::string_view text) const;
  /// The text of pieces; special ones such as padding and end of sequence are left out, <unk> is
  /// " ⁇ ". Throws Error on an id outside the vocabulary.
  std::string decode(std::span<const int32_t> ids) const;

  /// The text of pieces, of which some may not be the model's.
  std::string decode_pieces(const std::vector<std::string>& pieces) const;
  /// Whether a piece of the model stands for text.
  bool is_text(std::string_view piece) const;

  /// Throws Error on an id outside the vocabulary.
  const std::string& piece(int32_t id) const;
  /// unk_id() if it is not a piece.
  int32_t id_of(std::string_view piece) const;
  int32_t vocab_size() const;
  /// -1 in a model without the piece.
  int32_t pad_id() const;
  int32_t eos_id() const;
  int32_t unk_id() const;

  /// The bytes of the .model file.
  const std::string& serialized() const;

 private:
  struct Model;
  explicit SentencePiece(std::shared_ptr<const Model> model);

  std::shared_ptr<const Model> model_;
};

}  // namespace heed::text

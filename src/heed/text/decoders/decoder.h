#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "heed/text/pre_tokenizers/pre_tokenizer.h"

namespace heed::text {

/// Turns pieces into parts of a text; the text is their concatenation. Immutable.
class Decoder {
 public:
  virtual ~Decoder() = default;
  /// Throws Error when replacements from a file make the parts longer than `max_size` bytes in
  /// total.
  virtual void apply(std::vector<std::string>& pieces, size_t max_size) const = 0;
  /// What a piece between others adds to the text: any bytes, perhaps a part of a code point.
  /// `joined` is whether earlier decoders have made one part of all pieces; those that do set it.
  virtual std::string bytes_of(std::string piece, bool& joined) const = 0;
};

/// What "decoder" of a tokenizer.json describes; `file` is its name in messages. Throws Error on an
/// unknown type, and on missing or wrong members.
std::unique_ptr<Decoder> read_decoder(const nlohmann::json& json, const std::string& file);

std::unique_ptr<Decoder> make_decoder_sequence(std::vector<std::unique_ptr<Decoder>> parts);
std::unique_ptr<Decoder> make_byte_level_decoder();
std::unique_ptr<Decoder> make_byte_fallback_decoder();
std::unique_ptr<Decoder> make_fuse_decoder();
/// Removes `content` up to `start` times from the beginning and up to `stop` times from the end of
/// each part.
std::unique_ptr<Decoder> make_strip_decoder(std::string content, int64_t start, int64_t stop);
std::unique_ptr<Decoder> make_replace_decoder(Regex pattern, std::string content);
std::unique_ptr<Decoder> make_metaspace_decoder(const MetaspaceOptions& options);
/// What `decoder` gives as one text, without the spaces before punctuation that transformers'
/// clean_up_tokenization_spaces removes.
std::unique_ptr<Decoder> make_clean_up_decoder(std::unique_ptr<Decoder> decoder);
/// Puts a space before each piece but the first, unless it begins with `prefix`, which is removed.
/// `cleanup` removes spaces before punctuation.
std::unique_ptr<Decoder> make_word_piece_decoder(std::string prefix, bool cleanup);

}  // namespace heed::text

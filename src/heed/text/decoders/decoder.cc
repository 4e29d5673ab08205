#include "heed/text/decoders/decoder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/decoders/replace_all.h"
#include "heed/text/files/read_steps.h"
#include "heed/text/regex/pattern.h"
#include "heed/text/text_size.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

class DecoderSequence : public Decoder {
 public:
  explicit DecoderSequence(std::vector<std::unique_ptr<Decoder>> parts)
      : parts_(std::move(parts)) {}
  void apply(std::vector<std::string>& pieces, size_t max_size) const override {
    for (const auto& part : parts_) part->apply(pieces, max_size);
  }
  std::string bytes_of(std::string piece, bool& joined) const override {
    for (const auto& part : parts_) piece = part->bytes_of(std::move(piece), joined);
    return piece;
  }

 private:
  std::vector<std::unique_ptr<Decoder>> parts_;
};

class ByteLevelDecoder : public Decoder {
 public:
  void apply(std::vector<std::string>& pieces, size_t) const override {
    std::string bytes;
    for (const std::string& piece : pieces) append_character_bytes(bytes, piece);
    pieces = {with_replacements(bytes)};
  }
  std::string bytes_of(std::string piece, bool& joined) const override {
    joined = true;
    std::string bytes;
    append_character_bytes(bytes, piece);
    return bytes;
  }
};

class FuseDecoder : public Decoder {
 public:
  void apply(std::vector<std::string>& pieces, size_t) const override {
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    pieces = {std::move(text)};
  }
  std::string bytes_of(std::string piece, bool& joined) const override {
    joined = true;
    return piece;
  }
};

class StripDecoder : public Decoder {
 public:
  StripDecoder(std::string content, int64_t start, int64_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}
  void apply(std::vector<std::string>& pieces, size_t) const override {
    for (std::string& piece : pieces) piece = stripped(piece);
  }
  /// Of a text that is one part, only the ends are stripped.
  std::string bytes_of(std::string piece, bool& joined) const override {
    return joined ? piece : stripped(piece);
  }

 private:
  std::string stripped(std::string_view rest) const {
    for (int64_t i = 0; i < start_ && rest.starts_with(content_); ++i)
      rest.remove_prefix(content_.size());
    for (int64_t i = 0; i < stop_ && rest.ends_with(content_); ++i)
      rest.remove_suffix(content_.size());
    return std::string(rest);
  }

  std::string content_;
  int64_t start_, stop_;
};

class ReplaceDecoder : public Decoder {
 public:
  ReplaceDecoder(Regex pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}
  void apply(std::vector<std::string>& pieces, size_t max_size) const override {
    size_t size = 0;
    for (std::string& piece : pieces) {
      if (piece.empty()) continue;
      piece = replaced(piece, max_size - std::min(size, max_size));
      size += piece.size();
    }
  }
  std::string bytes_of(std::string piece, bool&) const override {
    return piece.empty() ? piece : replaced(piece, max_text_size(piece.size()));
  }

 private:
  std::string replaced(const std::string& piece, size_t max_size) const {
    std::string result;
    size_t position = 0;
    pattern_.for_each_match(piece, [&](TextSpan match) {
      result.append(piece, position, match.begin - position);
      result += content_;
      position = match.end;
      check_text_size(result.size(), max_size);
    });
    return result.append(piece, position);
  }

  Regex pattern_;
  std::string content_;
};

class MetaspaceDecoder : public Decoder {
 public:
  explicit MetaspaceDecoder(const MetaspaceOptions& options) : options_(options) {}
  void apply(std::vector<std::string>& pieces, size_t) const override {
    // The space before the first word was added by the pre-tokenizer.
    bool drop = options_.prepend != MetaspaceOptions::Prepend::never;
    for (std::string& piece : pieces) {
      replace_all(piece, options_.replacement, drop ? "" : " ");
      drop = false;
    }
  }
  std::string bytes_of(std::string piece, bool&) const override {
    replace_all(piece, options_.replacement, " ");
    return piece;
  }

 private:
  MetaspaceOptions options_;
};

class WordPieceDecoder : public Decoder {
 public:
  WordPieceDecoder(std::string prefix, bool cleanup)
      : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  void apply(std::vector<std::string>& pieces, size_t) const override {
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0 && pieces[i].starts_with(prefix_))
        pieces[i].erase(0, prefix_.size());
      else if (i > 0)
        pieces[i].insert(0, 1, ' ');
      if (cleanup_) clean_up_word(pieces[i]);
    }
  }
  std::string bytes_of(std::string piece, bool&) const override {
    if (piece.starts_with(prefix_))
      piece.erase(0, prefix_.size());
    else
      piece.insert(0, 1, ' ');
    if (cleanup_) clean_up_word(piece);
    return piece;
  }

 private:
  static void clean_up_word(std::string& piece) {
    clean_up(piece);
    replace_all(piece, " do not", " don't");
  }

  std::string prefix_;
  bool cleanup_;
};

class CleanUpDecoder : public Decoder {
 public:
  explicit CleanUpDecoder(std::unique_ptr<Decoder> decoder) : decoder_(std::move(decoder)) {}
  void apply(std::vector<std::string>& pieces, size_t max_size) const override {
    decoder_->apply(pieces, max_size);
    std::string text;
    for (const std::string& piece : pieces) text += piece;
    clean_up(text);
    pieces = {std::move(text)};
  }
  std::string bytes_of(std::string piece, bool& joined) const override {
    return decoder_->bytes_of(std::move(piece), joined);
  }

 private:
  std::unique_ptr<Decoder> decoder_;
};

/// The suffix that ends each word becomes a space.
class BpeDecoder : public Decoder {
 public:
  explicit BpeDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void apply(std::vector<std::string>& pieces, size_t) const override {
    for (std::string& piece : pieces)
      replace_all(piece, suffix_, &piece == &pieces.back() ? "" : " ");
  }
  std::string bytes_of(std::string piece, bool&) const override {
    replace_all(piece, suffix_, " ");
    return piece;
  }

 private:
  std::string suffix_;
};

std::unique_ptr<Decoder> read_strip(const nlohmann::json& json, const std::string& file) {
  return make_strip_decoder(read_character(json, "content", file),
                            get<int64_t>(json, "start", file), get<int64_t>(json, "stop", file));
}

}  // namespace

std::unique_ptr<Decoder> make_clean_up_decoder(std::unique_ptr<Decoder> decoder) {
  return std::make_unique<CleanUpDecoder>(std::move(decoder));
}

std::unique_ptr<Decoder> make_decoder_sequence(std::vector<std::unique_ptr<Decoder>> parts) {
  return std::make_unique<DecoderSequence>(std::move(parts));
}

std::unique_ptr<Decoder> make_byte_level_decoder() { return std::make_unique<ByteLevelDecoder>(); }

std::unique_ptr<Decoder> make_fuse_decoder() { return std::make_unique<FuseDecoder>(); }

std::unique_ptr<Decoder> make_strip_decoder(std::string content, int64_t start, int64_t stop) {
  return std::make_unique<StripDecoder>(std::move(content), start, stop);
}

std::unique_ptr<Decoder> make_replace_decoder(Regex pattern, std::string content) {
  return std::make_unique<ReplaceDecoder>(std::move(pattern), std::move(content));
}

std::unique_ptr<Decoder> make_metaspace_decoder(const MetaspaceOptions& options) {
  return std::make_unique<MetaspaceDecoder>(options);
}

std::unique_ptr<Decoder> make_word_piece_decoder(std::string prefix, bool cleanup) {
  return std::make_unique<WordPieceDecoder>(std::move(prefix), cleanup);
}

std::unique_ptr<Decoder> read_decoder(const nlohmann::json& json, const std::string& file) {
  const auto type = get<std::string>(json, "type", file);
  if (type == "Sequence")
    return make_decoder_sequence(read_steps(json, "decoders", file, read_decoder));
  if (type == "ByteLevel") return make_byte_level_decoder();
  if (type == "ByteFallback") return make_byte_fallback_decoder();
  if (type == "Fuse") return make_fuse_decoder();
  if (type == "Strip") return read_strip(json, file);
  if (type == "Replace")
    return make_replace_decoder(read_pattern(json, file), get<std::string>(json, "content", file));
  if (type == "Metaspace") return make_metaspace_decoder(read_metaspace_options(json, file));
  if (type == "WordPiece")
    return make_word_piece_decoder(get<std::string>(json, "prefix", file),
                                   get<bool>(json, "cleanup", file));
  if (type == "BPEDecoder")
    return std::make_unique<BpeDecoder>(get<std::string>(json, "suffix", file));
  fail("{}: the decoder {} is not known", file, excerpt(json["type"]));
}

}  // namespace heed::text

#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/text/tokenizer.h"

namespace heed::text {

/// The tokenizer files of a model directory. Remembers which of them were read.
class TokenizerFiles {
 public:
  /// Reads the files that configure the others: tokenizer_config.json,
  /// special_tokens_map.json, added_tokens.json and config.json. All may be missing.
  explicit TokenizerFiles(std::filesystem::path directory);

  std::string path_of(const std::string& name) const { return (directory_ / name).string(); }
  /// The contents of a file, or nothing if there is none. Throws Error when it cannot be read.
  std::optional<std::string> take(const std::string& name);
  std::optional<nlohmann::json> take_json(const std::string& name);
  /// Name and contents of all files that were read.
  std::vector<std::pair<std::string, std::string>> taken() && { return std::move(taken_); }

  /// A member of tokenizer_config.json, or `otherwise` where it is missing or null.
  bool option(const char* key, bool otherwise) const;
  std::string text_option(const char* key) const;  // or else ""
  /// "tokenizer_class" of tokenizer_config.json or else "model_type" of config.json, in lower case.
  std::string kind() const;
  /// The special tokens that the files name.
  const SpecialTokenNames& special_tokens() const { return special_tokens_; }
  /// Special tokens without a role, from "additional_special_tokens" or "extra_special_tokens".
  const std::vector<std::string>& more_special_tokens() const { return more_special_tokens_; }
  /// The added tokens that the files list, in the order of their ids; then those of `defaults` and
  /// the special tokens that the files do not list.
  std::vector<AddedToken> added_tokens(std::vector<AddedToken> defaults) const;

 private:
  void read_special_tokens(const nlohmann::json& json, const std::string& file);

  std::filesystem::path directory_;
  std::vector<std::pair<std::string, std::string>> taken_;
  nlohmann::json config_, model_config_, added_;
  SpecialTokenNames special_tokens_;
  std::vector<std::string> more_special_tokens_;
};

/// Reads one member of "added_tokens".
AddedToken read_added_token(const nlohmann::json& json, const std::string& file);
AddedToken special_token(std::string content);

// Each reads a tokenizer stored in one of several ways; nothing if the directory has no such files.
std::optional<TokenizerParts> read_tokenizer_json(TokenizerFiles& files);
std::optional<TokenizerParts> read_vocab_and_merges(TokenizerFiles& files);
std::optional<TokenizerParts> read_sentencepiece_files(TokenizerFiles& files);
std::optional<TokenizerParts> read_vocab_text(TokenizerFiles& files);

/// The text of SentencePiece's pieces; with `dummy_prefix`, the space that the normalizer put
/// before it is removed.
std::unique_ptr<Decoder> make_sentencepiece_decoder(bool dummy_prefix);

/// A BERT tokenizer without added and special tokens.
TokenizerParts word_piece_parts(Vocabulary pieces, const BertNormalizerOptions& cleaning,
                                const std::string& unknown);
/// How the pieces of a SentencePiece model are numbered: as the model does; as XLM-RoBERTa does,
/// whose special pieces <s> <pad> </s> <unk> come first and <mask> last; or as Pegasus does, which
/// puts <mask_1> <mask_2> <unk_2> ... <unk_102> after <pad> and </s>.
enum class PieceIds { own, fairseq, pegasus };

/// What a SentencePiece model says, with the names of sentencepiece_model.proto.
struct SentencePieceProto {
  enum Type : uint64_t { normal = 1, unknown, control, user_defined, unused, byte };
  struct Piece {
    std::string text;
    float score = 0;
    uint64_t type = normal;
  };
  std::vector<Piece> pieces;
  bool bpe = false, byte_fallback = false;
  std::string charsmap;
  bool add_dummy_prefix = true, remove_extra_whitespaces = true;
};
TokenizerParts sentencepiece_parts(const SentencePieceProto& proto, const std::string& name);

/// The parts of a SentencePiece model; `name` is its name in messages. Special tokens around the
/// text are left to the caller.
TokenizerParts read_sentencepiece_parts(const std::string& serialized, const std::string& name,
                                        PieceIds ids = PieceIds::own);

}  // namespace heed::text

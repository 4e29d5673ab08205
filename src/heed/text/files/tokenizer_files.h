#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heed/text/files/sentencepiece_proto.h"
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
  /// The same of a file that must be there: throws Error when there is none.
  std::string take_required(const std::string& name);

  bool has_taken(std::string_view name) const;
  /// Name and contents of all files that were read.
  std::vector<std::pair<std::string, std::string>> taken() && { return std::move(taken_); }

  /// tokenizer_config.json with what special_tokens_map.json adds to it.
  const nlohmann::json& config() const { return config_; }
  /// A member of it, or `otherwise` where it is missing or null.
  bool option(const char* key, bool otherwise) const;
  std::string text_option(const char* key) const;  // or else ""
  /// "tokenizer_class" of tokenizer_config.json or else "model_type" of config.json, in lower case.
  std::string kind() const;
  /// The class that transformers reads the tokenizer with ("BertTokenizer"); "" for one that takes
  /// tokenizer.json as it is.
  std::string tokenizer_class() const;
  /// The token of a role ("unk_token"), or `otherwise`.
  std::string token_of_role(const char* role, const char* otherwise) const;
  /// The special tokens that the files name.
  const SpecialTokenNames& special_tokens() const { return special_tokens_; }
  /// Special tokens with a role, in the order in which transformers adds them.
  using NamedToken = std::pair<std::string, AddedToken>;
  const std::vector<NamedToken>& named_tokens() const { return named_tokens_; }
  /// Special tokens without a role, from "additional_special_tokens" or "extra_special_tokens".
  const std::vector<AddedToken>& more_special_tokens() const { return more_special_tokens_; }
  /// The added tokens that the files list, in the order of their ids; then those of `defaults` and
  /// the special tokens that the files do not list.
  std::vector<AddedToken> added_tokens(std::vector<AddedToken> defaults) const;
  /// The added tokens of a tokenizer.json, whose own are `own`, as transformers merges them with
  /// those of the other files. A later entry replaces an earlier one with the same content. If its
  /// class builds the tokenizer anew, with default special tokens `defaults`, only tokens of
  /// tokenizer_config.json remain where that lists them.
  std::vector<AddedToken> merged_tokens(const std::vector<std::pair<int64_t, AddedToken>>& own,
                                        const std::vector<NamedToken>* defaults) const;

  void warn(std::string warning) { warnings_.push_back(std::move(warning)); }
  std::vector<std::string> warnings() const { return warnings_; }

 private:
  /// The tokens of added_tokens_decoder, or else of added_tokens.json, by their ids.
  std::map<int64_t, AddedToken> numbered_tokens() const;
  void merge_special_tokens(const nlohmann::json& map);
  void read_special_tokens();

  std::filesystem::path directory_;
  std::vector<std::pair<std::string, std::string>> taken_;
  nlohmann::json config_, model_config_, added_;
  SpecialTokenNames special_tokens_;
  std::vector<NamedToken> named_tokens_;  // the roles in transformers' order, then others
  std::vector<AddedToken> more_special_tokens_;
  std::vector<std::string> warnings_;
};

/// Reads one member of "added_tokens".
AddedToken read_added_token(const nlohmann::json& json, const std::string& file);
AddedToken special_token(std::string content);

// Each reads a tokenizer stored in one of several ways; nothing if the directory has no such files.
std::optional<TokenizerParts> read_tokenizer_json(TokenizerFiles& files);
std::optional<TokenizerParts> read_vocab_and_merges(TokenizerFiles& files);
std::optional<TokenizerParts> read_sentencepiece_files(TokenizerFiles& files);
std::optional<TokenizerParts> read_vocab_text(TokenizerFiles& files);

/// The text of SentencePiece's pieces, without up to `leading_spaces` at its beginning.
std::unique_ptr<Decoder> make_sentencepiece_decoder(int64_t leading_spaces);

/// A BERT tokenizer without added and special tokens.
TokenizerParts word_piece_parts(Vocabulary pieces, const BertNormalizerOptions& cleaning,
                                const std::string& unknown);
/// How the pieces of a SentencePiece model are numbered: as the model does; as XLM-RoBERTa does,
/// whose special pieces <s> <pad> </s> <unk> come first and <mask> last, under the names that its
/// files give them; or as Pegasus does, which
/// puts <mask_1> <mask_2> <unk_2> ... <unk_102> after <pad> and </s>.
enum class PieceIds { own, fairseq, pegasus };

TokenizerParts sentencepiece_parts(const SentencePieceProto& proto, const std::string& name);

/// Where a SentencePiece model puts the space that stands before a text: before each part between
/// special tokens, or ("legacy": false) only before one that begins the text, or nowhere
/// ("add_prefix_space": false).
enum class SpacePrefix { of_parts, of_text, none };

/// A tokenizer that does what the SentencePiece library does, with the same ids; special tokens are
/// recognised in a text. `name` is the model's name in messages.
TokenizerParts read_library_parts(const std::string& serialized, const std::string& name,
                                  SpacePrefix prefix = SpacePrefix::of_parts);

/// The parts of a SentencePiece model as `tokenizers` has them; `name` is its name in messages.
/// Special tokens around the text are left to the caller.
TokenizerParts read_sentencepiece_parts(const std::string& serialized, const std::string& name,
                                        PieceIds ids = PieceIds::own,
                                        const SpecialTokenNames& names = {});

}  // namespace heed::text

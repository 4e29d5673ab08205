#include "heed/text/gguf/tokenizer_write.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "heed/base/base64.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/text/decoders/replace_all.h"
#include "heed/text/files/sentencepiece_proto.h"
#include "heed/text/pre_tokenizers/named_patterns.h"

namespace heed::text {
namespace {

using Json = nlohmann::json;
using Proto = SentencePieceProto;

const std::string kGgmlKeys = "tokenizer.ggml.";
constexpr std::string_view kSpace = "\u2581";

/// The contents of a file of the tokenizer, if it has one of this name.
const std::string* file_of(const Tokenizer& tokenizer, std::string_view name) {
  for (const auto& [own, contents] : tokenizer.files())
    if (own == name) return &contents;
  return nullptr;
}

/// A token that models use as a control token although their files do not call it special.
bool looks_special(std::string_view text) {
  const auto between = [&](std::string_view begin, std::string_view end) {
    return text.starts_with(begin) && text.ends_with(end);
  };
  return text == "<pad>" || text == "<mask>" || text == "<2mass>" || text == "[@BOS@]" ||
         between("<|", "|>") || between("<\uFF5C", "\uFF5C>") || between("<unused", ">");
}

/// The pieces by their ids, with their types in GGUF files.
struct PieceList {
  std::vector<std::string> texts;
  std::vector<int32_t> types;

  PieceList(const Tokenizer& tokenizer, int64_t rows) {
    const std::vector<int32_t> ids = tokenizer.added_tokens();
    const std::set<int32_t> added(ids.begin(), ids.end());
    const auto unknown = tokenizer.special_tokens().unk;
    for (int32_t id = 0; id < std::max(rows, tokenizer.vocab_size()); ++id) {
      std::string text;
      int32_t type = Proto::normal;
      try {
        text = tokenizer.piece(id);
      } catch (const Error&) {
        text = fmt::format("[PAD{}]", id);
        type = Proto::unused;
      }
      if (added.contains(id)) {
        type =
            tokenizer.is_special(id) || looks_special(text) ? Proto::control : Proto::user_defined;
        if (type == Proto::user_defined) replace_all(text, kSpace, " ");
      }
      if (unknown == id && !added.contains(id)) type = Proto::unknown;
      texts.push_back(std::move(text));
      types.push_back(type);
    }
  }
};

class Writer {
 public:
  Writer(const Tokenizer& tokenizer, int64_t rows)
      : tokenizer_(tokenizer), pieces_(tokenizer, rows) {}

  GgufTokenizer write() && {
    write_model();
    set("tokens", pieces_.texts);
    set("token_type", pieces_.types);
    write_special_tokens();
    return std::move(result_);
  }

 private:
  void set(const char* key, io::GgufValue value) {
    result_.metadata[kGgmlKeys + key] = std::move(value);
  }
  void name(const char* model, std::string pre = "default") {
    set("model", std::string(model));
    set("pre", std::move(pre));
  }

  void write_model() {
    if (const std::string* model = file_of(tokenizer_, "tokenizer.model"))
      return write_sentencepiece(Proto::read(*model, "tokenizer.model"));
    for (const char* file : {"spiece.model", "sentencepiece.bpe.model"})
      if (const std::string* model = file_of(tokenizer_, file))
        return write_sentencepiece(Proto::read(*model, file));
    if (const std::string* json = file_of(tokenizer_, "tokenizer.json"))
      return write_json(Json::parse(*json));
    if (const std::string* merges = file_of(tokenizer_, "merges.txt"))
      return write_vocab_and_merges(*merges);
    require(
        file_of(tokenizer_, "vocab.txt") != nullptr,
        "GGUF files have no tokenizers of this kind: expected a tokenizer.json, a SentencePiece "
        "model, merges.txt or vocab.txt");
    write_word_piece(Json());
  }

  /// Pieces keep their ids in the tokenizer, which may differ from those in the model.
  void write_sentencepiece(const Proto& proto) {
    const bool bpe = proto.kind == Proto::Kind::bpe;
    require(bpe || proto.kind == Proto::Kind::unigram,
            "the SentencePiece model is of type {}, which GGUF files cannot hold: expected unigram "
            "(1) or bpe (2)",
            static_cast<int>(proto.kind));
    std::map<std::string_view, const Proto::Piece*> own;
    for (const Proto::Piece& piece : proto.pieces) own.emplace(piece.text, &piece);
    std::vector<float> scores;
    for (size_t id = 0; id < pieces_.texts.size(); ++id) {
      const auto found = own.find(pieces_.texts[id]);
      int32_t& type = pieces_.types[id];
      if (found == own.end()) {
        scores.push_back(type == Proto::unused ? -10000.0f : bpe ? -1000.0f : 0.0f);
        continue;
      }
      scores.push_back(found->second->score);
      // The model says what a piece is; the other files, what else is special.
      if (found->second->type != Proto::normal) type = static_cast<int32_t>(found->second->type);
    }
    name(bpe ? "llama" : "t5");
    set("scores", std::move(scores));
    set("add_space_prefix", proto.add_dummy_prefix && config_flag("add_prefix_space", true));
    if (!bpe)
      write_normalization(proto.remove_extra_whitespaces, proto.charsmap);
    else if (proto.remove_extra_whitespaces || !proto.charsmap.empty())
      leave_out_normalizer("of SentencePiece");
  }

  void leave_out_normalizer(const std::string& which) {
    result_.normalizes = false;
    result_.warnings.push_back(
        fmt::format("the normalizer {} of the tokenizer is left out: GGUF files have none of BPE, "
                    "so that texts which it changes get other tokens",
                    which));
  }

  void write_normalization(bool remove_extra_whitespaces, const std::string& charsmap) {
    set("remove_extra_whitespaces", remove_extra_whitespaces);
    if (!charsmap.empty())
      set("precompiled_charsmap", std::vector<uint8_t>(charsmap.begin(), charsmap.end()));
  }

  void write_json(const Json& json) {
    const Json& model = json.at("model");
    const std::string type = model.value("type", "BPE");
    if (type == "WordPiece") return write_word_piece(json.value("normalizer", Json()));
    if (type == "Unigram") return write_unigram(json);
    require(type == "BPE", "GGUF files have no tokenizers of type {}", quoted(type));
    if (model.value("byte_fallback", false)) return write_bpe_by_scores(json);
    const Json normalizer = json.value("normalizer", Json());
    if (!normalizer.is_null()) leave_out_normalizer(excerpt(normalizer));
    NamedSplit split{.patterns = {}, .ignore_merges = model.value("ignore_merges", false)};
    add_patterns(json.value("pre_tokenizer", Json()), split);
    write_byte_level(split, merge_lines(read_merges_json(model.at("merges"), "tokenizer.json")));
  }

  /// The patterns of the steps that split words.
  void add_patterns(const Json& step, NamedSplit& split) {
    const std::string type = step.is_object() ? step.value("type", "") : "none";
    const auto gpt2 = named_split("gpt-2", "").patterns;
    if (type == "Sequence") {
      for (const Json& part : step.at("pretokenizers")) add_patterns(part, split);
    } else if (type == "ByteLevel") {
      if (step.value("use_regex", true))
        split.patterns.insert(split.patterns.end(), gpt2.begin(), gpt2.end());
      if (step.value("add_prefix_space", false)) set("add_space_prefix", true);
    } else if (type == "Split" && step.at("pattern").contains("Regex") &&
               step.value("behavior", "") == "Isolated" && !step.value("invert", false)) {
      split.patterns.push_back(step["pattern"]["Regex"]);
    } else if (type == "Digits" && step.value("individual_digits", false)) {
      split.patterns.push_back(R"(\p{N})");
    } else {
      fail("GGUF files have no pre-tokenizer {}", excerpt(step));
    }
  }

  /// A space in a piece is spelt as byte-level pieces spell it.
  static std::vector<std::string> merge_lines(const std::vector<PiecePair>& merges) {
    std::vector<std::string> lines;
    for (const auto& [left, right] : merges) {
      std::string parts[2] = {std::string(left), std::string(right)};
      for (std::string& part : parts) replace_all(part, " ", "\u0120");
      lines.push_back(parts[0] + " " + parts[1]);
    }
    return lines;
  }

  void write_vocab_and_merges(const std::string& merges) {
    const bool qwen = config_text("tokenizer_class").find("Qwen2") != std::string::npos;
    if (config_flag("add_prefix_space", false)) set("add_space_prefix", true);
    write_byte_level(named_split(qwen ? "qwen2" : "gpt-2", ""),
                     merge_lines(read_merges_text(merges, "merges.txt")));
  }

  void write_byte_level(const NamedSplit& split, std::vector<std::string> merges) {
    const std::string pre = name_of_split(split);
    require(!pre.empty(),
            "GGUF files have no name for a pre-tokenizer with ignore_merges {} and the patterns {}",
            split.ignore_merges, excerpt(Json(split.patterns)));
    name("gpt2", pre);
    set("merges", std::move(merges));
  }

  /// A piece's score is the rank of the merge that makes it.
  void write_bpe_by_scores(const Json& json) {
    std::map<std::string, float> scores;
    for (const auto& [left, right] :
         read_merges_json(json.at("model").at("merges"), "tokenizer.json"))
      scores.emplace(fmt::format("{}{}", left, right), -static_cast<float>(scores.size()));
    std::vector<float> of_pieces;
    for (size_t id = 0; id < pieces_.texts.size(); ++id) {
      const std::string& text = pieces_.texts[id];
      const auto found = scores.find(text);
      const bool byte = text.size() == 6 && text.starts_with("<0x") && text.ends_with('>');
      if (byte && pieces_.types[id] == Proto::normal) pieces_.types[id] = Proto::byte;
      of_pieces.push_back(found == scores.end() ? -1e6f : found->second);
    }
    leave_out_other_normalizers(json.value("normalizer", Json()));
    name("llama");
    set("scores", std::move(of_pieces));
    set("add_space_prefix", puts_space(json.value("normalizer", Json())) ||
                                puts_space(json.value("pre_tokenizer", Json())));
  }

  /// All but those that put U+2581 before a text and in place of spaces, which GGUF files have.
  void leave_out_other_normalizers(const Json& step) {
    if (!step.is_object() || step.value("type", "") == "Prepend") return;
    if (step.contains("normalizers")) {
      for (const Json& part : step["normalizers"]) leave_out_other_normalizers(part);
    } else if (step.value("content", "") != kSpace ||
               step.value("pattern", Json()) != Json{{"String", " "}}) {
      leave_out_normalizer(excerpt(step));
    }
  }

  /// Whether a step or one of its parts puts a space before a text.
  static bool puts_space(const Json& step) {
    if (!step.is_object()) return false;
    const std::string type = step.value("type", "");
    if (type == "Prepend") return true;
    if (type == "Metaspace")
      return step.value("prepend_scheme",
                        step.value("add_prefix_space", true) ? "always" : "never") != "never";
    for (const char* parts : {"normalizers", "pretokenizers"})
      if (step.contains(parts))
        return std::ranges::any_of(step[parts], [](const Json& part) { return puts_space(part); });
    return false;
  }

  void write_unigram(const Json& json) {
    std::map<std::string, float> own;
    for (const Json& piece : json.at("model").at("vocab"))
      own.emplace(piece.at(0), piece.at(1).get<float>());
    std::vector<float> scores;
    for (const std::string& text : pieces_.texts) {
      const auto found = own.find(text);
      scores.push_back(found == own.end() ? 0.0f : found->second);
    }
    if (const Json& unknown = json["model"].value("unk_id", Json()); unknown.is_number_integer())
      pieces_.types.at(unknown.get<size_t>()) = Proto::unknown;
    name("t5");
    set("scores", std::move(scores));
    set("add_space_prefix", puts_space(json.value("pre_tokenizer", Json())) ||
                                puts_space(json.value("normalizer", Json())));
    write_normalization(true, charsmap_of(json.value("normalizer", Json())));
  }

  static std::string charsmap_of(const Json& step) {
    if (!step.is_object()) return {};
    if (step.value("type", "") == "Precompiled")
      return decode_base64(step.at("precompiled_charsmap").get<std::string>()).value_or("");
    if (step.contains("normalizers"))
      for (const Json& part : step["normalizers"])
        if (std::string found = charsmap_of(part); !found.empty()) return found;
    return {};
  }

  /// Pieces that begin a word get a space before them, the others lose their "##".
  void write_word_piece(const Json& normalizer) {
    for (size_t id = 0; id < pieces_.texts.size(); ++id) {
      if (pieces_.types[id] == Proto::control) continue;
      std::string& text = pieces_.texts[id];
      text = text.starts_with("##") ? text.substr(2) : std::string(kSpace) + text;
    }
    name("bert", "jina-v2-en");
    const bool lower = normalizer.is_object() ? normalizer.value("lowercase", true)
                                              : config_flag("do_lower_case", true);
    set("normalizer.lowercase", lower);
    const Json accents = normalizer.is_object() ? normalizer.value("strip_accents", Json())
                                                : config().value("strip_accents", Json());
    if (accents.is_boolean()) set("normalizer.strip_accents", accents.get<bool>());
  }

  /// The ids that stand around a text name the roles of their tokens.
  void write_special_tokens() {
    const SpecialTokens& tokens = tokenizer_.special_tokens();
    const auto id = [&](const char* role, const std::optional<int32_t>& token) {
      if (token) set(role, static_cast<uint32_t>(*token));
    };
    id("bos_token_id", tokens.bos ? tokens.bos : tokens.cls);
    id("eos_token_id", tokens.eos ? tokens.eos : tokens.sep);
    id("unknown_token_id", tokens.unk);
    id("seperator_token_id", tokens.sep);  // spelt so in the files
    id("padding_token_id", tokens.pad);
    id("mask_token_id", tokens.mask);
    const std::vector<int32_t> bare = tokenizer_.encode("a", false), all = tokenizer_.encode("a");
    const auto text = std::ranges::search(all, bare);
    const std::vector<int32_t> before(all.begin(), text.begin()), after(text.end(), all.end());
    require(before.size() <= 1 && after.size() <= 1,
            "the tokenizer adds {} tokens before a text and {} after it, GGUF files have at most "
            "one each",
            before.size(), after.size());
    if (!before.empty()) id("bos_token_id", before.front());
    if (!after.empty()) {
      if (tokens.eos && tokens.eos != after.front()) id("eot_token_id", tokens.eos);
      id("eos_token_id", after.front());
    }
    set("add_bos_token", !before.empty());
    set("add_eos_token", !after.empty());
    if (before.empty() || after.empty()) return;
    const std::vector<int32_t> pair = tokenizer_.encode_pair("a", "a").ids;
    set("add_sep_token", pair.size() == 2 * bare.size() + 4);
  }

  const Json& config() {
    if (config_.is_null()) {
      const std::string* text = file_of(tokenizer_, "tokenizer_config.json");
      config_ = text == nullptr ? Json::object() : Json::parse(*text);
    }
    return config_;
  }
  bool config_flag(const char* key, bool otherwise) {
    const Json value = config().value(key, Json());
    return value.is_boolean() ? value.get<bool>() : otherwise;
  }
  std::string config_text(const char* key) {
    const Json value = config().value(key, Json());
    return value.is_string() ? value.get<std::string>() : "";
  }

  const Tokenizer& tokenizer_;
  PieceList pieces_;
  Json config_;
  GgufTokenizer result_;
};

}  // namespace

GgufTokenizer gguf_tokenizer(const Tokenizer& tokenizer, int64_t rows) {
  return Writer(tokenizer, rows).write();
}

}  // namespace heed::text

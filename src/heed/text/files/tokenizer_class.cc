#include "heed/text/files/tokenizer_class.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "heed/text/files/bpe_json.h"

namespace heed::text {
namespace {

using Json = nlohmann::json;

Json metaspace(const char* scheme, bool split) {
  return {{"type", "Metaspace"},
          {"replacement", "\u2581"},
          {"prepend_scheme", scheme},
          {"split", split}};
}

Json bert_normalizer(const TokenizerFiles& files) {
  const auto strip = files.config().find("strip_accents");
  return {{"type", "BertNormalizer"},
          {"clean_text", true},
          {"handle_chinese_chars", files.option("tokenize_chinese_chars", true)},
          {"strip_accents", strip == files.config().end() ? Json() : *strip},
          {"lowercase", files.option("do_lower_case", true)}};
}

void build_word_piece(Json& tokenizer, const TokenizerFiles& files) {
  tokenizer["normalizer"] = bert_normalizer(files);
  tokenizer["pre_tokenizer"] = {{"type", "BertPreTokenizer"}};
  tokenizer["decoder"] = {{"type", "WordPiece"}, {"prefix", "##"}, {"cleanup", true}};
  Json& model = tokenizer["model"];
  model["unk_token"] = files.token_of_role("unk_token", "[UNK]");
  model["continuing_subword_prefix"] = "##";
  model["max_input_chars_per_word"] = 100;
}

/// Replaces all of a BPE model but its vocabulary and merges.
void set_bpe(Json& model, bool bytes, const std::optional<std::string>& unknown = std::nullopt) {
  Json options = bpe_model_json(unknown, bytes, false);
  for (const char* key : {"vocab", "merges"}) options.erase(key);
  model.update(options);
}

Json byte_level(bool add_prefix_space, bool use_regex) {
  Json step = byte_level_step(add_prefix_space);
  step["trim_offsets"] = true;
  step["use_regex"] = use_regex;
  return step;
}

void build_gpt2(Json& tokenizer, const TokenizerFiles& files) {
  set_bpe(tokenizer["model"], false);
  tokenizer["normalizer"] = nullptr;
  tokenizer["pre_tokenizer"] = byte_level(files.option("add_prefix_space", false), true);
  tokenizer["decoder"] = byte_level(true, true);
}

void build_gpt_neox(Json& tokenizer, const TokenizerFiles& files) {
  build_gpt2(tokenizer, files);
  tokenizer["normalizer"] = {{"type", "NFC"}};
  tokenizer["post_processor"] = nullptr;
}

void build_qwen2(Json& tokenizer, const TokenizerFiles& files) {
  set_bpe(tokenizer["model"], false);
  tokenizer["normalizer"] = {{"type", "NFC"}};
  tokenizer["pre_tokenizer"] = byte_level_pre_tokenizer(named_split("qwen2", "Qwen2"),
                                                        files.option("add_prefix_space", false));
  tokenizer["decoder"] = byte_level(true, true);
}

void build_llama(Json& tokenizer, const TokenizerFiles& files) {
  set_bpe(tokenizer["model"], true);
  const bool prefix = files.option("add_prefix_space", true);
  tokenizer["normalizer"] = nullptr;
  tokenizer["pre_tokenizer"] = metaspace(!prefix                         ? "never"
                                         : files.option("legacy", false) ? "always"
                                                                         : "first",
                                         false);
  tokenizer["decoder"] = byte_fallback_decoder(prefix);
}

void build_gemma(Json& tokenizer, const TokenizerFiles& files) {
  set_bpe(tokenizer["model"], true, files.token_of_role("unk_token", "<unk>"));
  tokenizer["normalizer"] = replace_step(" ", "\u2581");
  tokenizer["pre_tokenizer"] = {{"type", "Split"},
                                {"pattern", {{"String", " "}}},
                                {"behavior", "MergedWithPrevious"},
                                {"invert", false}};
  tokenizer["decoder"] = byte_fallback_decoder(false);
}

/// The table of characters is the one part of a normalizer that remains.
Json precompiled_of(const Json& normalizer) {
  if (!normalizer.is_object()) return nullptr;
  const auto type = normalizer.find("type");
  if (type != normalizer.end() && *type == "Precompiled") return normalizer;
  const auto parts = normalizer.find("normalizers");
  if (parts == normalizer.end() || !parts->is_array()) return nullptr;
  for (const Json& part : *parts)
    if (part.is_object() && part.contains("type") && part["type"] == "Precompiled") return part;
  return nullptr;
}

void build_unigram(Json& tokenizer, int unknown, const char* scheme) {
  tokenizer["normalizer"] = precompiled_of(tokenizer.value("normalizer", Json()));
  tokenizer["pre_tokenizer"] =
      sequence_step("pretokenizers", {{{"type", "WhitespaceSplit"}}, metaspace(scheme, true)});
  tokenizer["decoder"] = metaspace(scheme, true);
  tokenizer["model"]["unk_id"] = unknown;
  tokenizer["model"]["byte_fallback"] = false;
}

void build_t5(Json& tokenizer, const TokenizerFiles&) { build_unigram(tokenizer, 2, "always"); }

void build_xlm_roberta(Json& tokenizer, const TokenizerFiles& files) {
  // Here null is not the default.
  const auto own = files.config().find("add_prefix_space");
  const bool prefix = own == files.config().end() || files.option("add_prefix_space", false);
  build_unigram(tokenizer, 3, prefix ? "always" : "never");
}

/// "do_lower_case", "keep_accents" and "add_prefix_space" are options of the class.
void build_albert(Json& tokenizer, const TokenizerFiles& files) {
  const char* const scheme = files.option("add_prefix_space", true) ? "always" : "never";
  const Json precompiled = precompiled_of(tokenizer.value("normalizer", Json()));
  build_unigram(tokenizer, 1, scheme);
  Json steps = {replace_step("``", "\""), replace_step("''", "\"")};
  if (!files.option("keep_accents", false)) {
    steps.push_back({{"type", "NFKD"}});
    steps.push_back({{"type", "StripAccents"}});
  }
  if (files.option("do_lower_case", true)) steps.push_back({{"type", "Lowercase"}});
  if (!precompiled.is_null()) steps.push_back(precompiled);
  tokenizer["normalizer"] = sequence_step("normalizers", steps);
}

/// "do_lower_case", "split_by_punct" and "add_prefix_space" are options of the class. The table of
/// characters is not used.
void build_deberta_v2(Json& tokenizer, const TokenizerFiles& files) {
  const char* const scheme = files.option("add_prefix_space", true) ? "always" : "first";
  Json steps = Json::array();
  if (files.option("do_lower_case", false)) steps.push_back({{"type", "Lowercase"}});
  steps.push_back(
      {{"type", "Replace"}, {"pattern", {{"Regex", "\\s{2,}|[\\n\\r\\t]"}}}, {"content", " "}});
  steps.push_back({{"type", "NFC"}});
  steps.push_back({{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}});
  tokenizer["normalizer"] = sequence_step("normalizers", steps);
  Json cuts = Json::array();
  if (files.option("split_by_punct", false))
    cuts.push_back({{"type", "Punctuation"}, {"behavior", "Isolated"}});
  cuts.push_back(metaspace(scheme, true));
  tokenizer["pre_tokenizer"] = sequence_step("pretokenizers", cuts);
  tokenizer["decoder"] = metaspace(scheme, true);
  tokenizer["model"]["byte_fallback"] = false;
}

std::vector<TokenizerFiles::NamedToken> default_tokens(
    std::initializer_list<std::pair<const char*, const char*>> tokens) {
  std::vector<TokenizerFiles::NamedToken> result;
  for (const auto& [role, content] : tokens) result.emplace_back(role, special_token(content));
  return result;
}

const std::vector<TokenizerClass>& classes() {
  const auto roberta = default_tokens({{"bos_token", "<s>"},
                                       {"eos_token", "</s>"},
                                       {"sep_token", "</s>"},
                                       {"cls_token", "<s>"},
                                       {"unk_token", "<unk>"},
                                       {"pad_token", "<pad>"},
                                       {"mask_token", "<mask>"}});
  const auto end_of_text = default_tokens({{"unk_token", "<|endoftext|>"},
                                           {"bos_token", "<|endoftext|>"},
                                           {"eos_token", "<|endoftext|>"}});
  auto mpnet = roberta;
  mpnet[4].second.content = "[UNK]";
  mpnet[6].second.strip_left = true;
  auto neox = end_of_text;
  neox.emplace_back("pad_token", special_token("<|padding|>"));
  static const std::vector<TokenizerClass> all{
      {"BertTokenizer", "WordPiece", "vocab.txt",
       default_tokens({{"unk_token", "[UNK]"},
                       {"sep_token", "[SEP]"},
                       {"pad_token", "[PAD]"},
                       {"cls_token", "[CLS]"},
                       {"mask_token", "[MASK]"}}),
       build_word_piece, ClassPostProcessor::bert},
      {"MPNetTokenizer", "WordPiece", "vocab.txt", mpnet, build_word_piece,
       ClassPostProcessor::roberta},
      {"RobertaTokenizer", "BPE", "vocab.json", roberta, build_gpt2, ClassPostProcessor::roberta},
      {"GPT2Tokenizer", "BPE", "vocab.json", end_of_text, build_gpt2},
      {"GPTNeoXTokenizer", "BPE", "vocab.json", neox, build_gpt_neox},
      {"Qwen2Tokenizer", "BPE", "vocab.json",
       default_tokens({{"unk_token", "<|endoftext|>"},
                       {"eos_token", "<|endoftext|>"},
                       {"pad_token", "<|endoftext|>"}}),
       build_qwen2},
      {"LlamaTokenizer", "BPE", "tokenizer.model",
       default_tokens({{"unk_token", "<unk>"}, {"bos_token", "<s>"}, {"eos_token", "</s>"}}),
       build_llama},
      {"GemmaTokenizer", "BPE", "tokenizer.model",
       default_tokens({{"unk_token", "<unk>"},
                       {"bos_token", "<bos>"},
                       {"eos_token", "<eos>"},
                       {"pad_token", "<pad>"},
                       {"mask_token", "<mask>"}}),
       build_gemma},
      {"T5Tokenizer", "Unigram", "spiece.model",
       default_tokens({{"eos_token", "</s>"}, {"unk_token", "<unk>"}, {"pad_token", "<pad>"}}),
       build_t5, ClassPostProcessor::t5},
      {"AlbertTokenizer", "Unigram", "spiece.model",
       default_tokens({{"bos_token", "[CLS]"},
                       {"eos_token", "[SEP]"},
                       {"unk_token", "<unk>"},
                       {"sep_token", "[SEP]"},
                       {"pad_token", "<pad>"},
                       {"cls_token", "[CLS]"},
                       {"mask_token", "[MASK]"}}),
       build_albert, ClassPostProcessor::bert},
      {"DebertaV2Tokenizer", "Unigram", "spm.model",
       default_tokens({{"bos_token", "[CLS]"},
                       {"eos_token", "[SEP]"},
                       {"unk_token", "[UNK]"},
                       {"sep_token", "[SEP]"},
                       {"cls_token", "[CLS]"},
                       {"pad_token", "[PAD]"},
                       {"mask_token", "[MASK]"}}),
       build_deberta_v2, ClassPostProcessor::bert},
      {"XLMRobertaTokenizer", "Unigram", "sentencepiece.bpe.model", roberta, build_xlm_roberta,
       ClassPostProcessor::roberta}};
  return all;
}

/// Other names of the same classes.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"DistilBertTokenizer", "BertTokenizer"},    {"ElectraTokenizer", "BertTokenizer"},
    {"MobileBertTokenizer", "BertTokenizer"},    {"SqueezeBertTokenizer", "BertTokenizer"},
    {"ConvBertTokenizer", "BertTokenizer"},      {"BartTokenizer", "RobertaTokenizer"},
    {"LongformerTokenizer", "RobertaTokenizer"}, {"LEDTokenizer", "RobertaTokenizer"}};

/// The model types that have one of these classes.
constexpr std::pair<std::string_view, std::string_view> kModels[] = {
    {"bert", "BertTokenizer"},
    {"distilbert", "BertTokenizer"},
    {"electra", "BertTokenizer"},
    {"nomic_bert", "BertTokenizer"},
    {"mobilebert", "BertTokenizer"},
    {"mpnet", "MPNetTokenizer"},
    {"roberta", "RobertaTokenizer"},
    {"bart", "RobertaTokenizer"},
    {"longformer", "RobertaTokenizer"},
    {"gpt2", "GPT2Tokenizer"},
    {"gpt_neo", "GPT2Tokenizer"},
    {"opt", "GPT2Tokenizer"},
    {"phi", "GPT2Tokenizer"},
    {"starcoder2", "GPT2Tokenizer"},
    {"gpt_neox", "GPTNeoXTokenizer"},
    {"olmo", "GPTNeoXTokenizer"},
    {"mpt", "GPTNeoXTokenizer"},
    {"qwen2", "Qwen2Tokenizer"},
    {"qwen2_moe", "Qwen2Tokenizer"},
    {"qwen3", "Qwen2Tokenizer"},
    {"qwen3_moe", "Qwen2Tokenizer"},
    {"gemma", "GemmaTokenizer"},
    {"gemma2", "GemmaTokenizer"},
    {"gemma3", "GemmaTokenizer"},
    {"gemma3_text", "GemmaTokenizer"},
    {"t5", "T5Tokenizer"},
    {"mt5", "T5Tokenizer"},
    {"xlm-roberta", "XLMRobertaTokenizer"},
    {"gte", "XLMRobertaTokenizer"},
    {"albert", "AlbertTokenizer"},
    {"deberta-v2", "DebertaV2Tokenizer"}};

}  // namespace

const TokenizerClass* find_tokenizer_class(std::string_view name) {
  for (const auto& [alias, own] : kAliases)
    if (name == alias) name = own;
  for (const TokenizerClass& entry : classes())
    if (name == entry.name) return &entry;
  return nullptr;
}

std::string class_of_tokenizer(const std::string& named, const std::string& model_type) {
  // Published files of these models often name a class that is not theirs.
  constexpr std::string_view kMisnamed[] = {"modernbert", "phi3", "internlm2"};
  // Models whose tokenizers have no class of their own.
  constexpr std::string_view kPlain[] = {"granite", "granitemoe", "mistral",  "mixtral",
                                         "olmo2",   "olmo3",      "stablelm", "umt5"};
  if (std::ranges::find(kMisnamed, model_type) != std::end(kMisnamed)) return "";
  if (std::ranges::find(kPlain, model_type) != std::end(kPlain)) return "";
  std::string_view registered;
  for (const auto& [type, name] : kModels)
    if (type == model_type) registered = name;
  if (named.empty()) return std::string(registered);
  return model_type == "qwen2" ? std::string(registered) : named;
}

}  // namespace heed::text

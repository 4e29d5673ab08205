#include "heed/text/pre_tokenizers/named_patterns.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/json.h"

namespace heed::text {
namespace {

constexpr const char* kGpt2 =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

/// Llama 3's and, with single digits, Qwen2's.
std::string gpt4_like(const char* digits) {
  return std::string(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|)") + digits +
         R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
}

/// GPT-4o's, which splits where upper case follows lower case; Tekken's is without contractions.
std::string cased(const char* contractions, const char* digits) {
  const std::string start = R"([^\r\n\p{L}\p{N}]?)";
  const std::string upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])";
  const std::string lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])";
  return start + upper + "*" + lower + "+" + contractions + "|" + start + upper + "+" + lower +
         "*" + contractions + "|" + digits +
         R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
}

constexpr const char* kContractions = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?";
constexpr const char* kDeepseekHan = "[\u4E00-\u9FA5\u0800-\u4E00\uAC00-\uD7FF]+";
constexpr const char* kDeepseekWords =
    "\\s?[A-Za-z\u00B5\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u01BA\u01BC-\u01BF\u01C4-\u0293"
    "\u0295-\u02AF\u0370-\u0373\u0376\u0377\u037B-\u037D\u037F\u0386\u0388-\u038A\u038C"
    "\u038E-\u03A1\u03A3-\u03F5\u03F7-\u0481\u048A-\u052F\u0531-\u0556\u10A0-\u10C5"
    "\u13A0-\u13F5\u13F8-\u13FD\u1C90-\u1CBA\u1CBD-\u1CBF\u1D00-\u1D2B\u1D6B-\u1D77"
    "\u1D79-\u1D9A\u1E00-\u1F15\u1F18-\u1F1D\u1F20-\u1F45\u1F48-\u1F4D\u1F50-\u1F57\u1F59"
    "\u1F5B\u1F5D\u1F5F-\u1F7D\u1F80-\u1FB4\u1FB6-\u1FBC\u1FBE\u1FC2-\u1FC4\u1FC6-\u1FCC"
    "\u1FD0-\u1FD3\u1FD6-\u1FDB\u1FE0-\u1FEC\u1FF2-\u1FF4\u1FF6-\u1FFC\u2102\u2107"
    "\u210A-\u2113\u2115\u2119-\u211D\u2124\u2126\u2128\u212A-\u212D\u212F-\u2134\u2139"
    "\u213C-\u213F\u2145-\u2149\u214E\u2183\u2184\u2C00-\u2C7B\u2C7E-\u2CE4\u2CEB-\u2CEE"
    "\u2CF2\u2CF3\uA640-\uA66D\uA680-\uA69B\uA722-\uA76F\uA771-\uA787\uA78B-\uA78E"
    "\uAB70-\uABBF\uFB00-\uFB06\uFB13-\uFB17\uFF21-\uFF3A\uFF41-\uFF5A\U00010400-\U0001044F"
    "\U000104B0-\U000104D3\U000104D8-\U000104FB\U00010C80-\U00010CB2\U00010CC0-\U00010CF2"
    "\U000118A0-\U000118DF\U0001E900-\U0001E943]+";
constexpr const char* kDeepseekMarks =
    "\\s?[!-/:-~\uFF01-\uFF0F\uFF1A-\uFF5E\u2018-\u201F\u3000-\u3002]+";
constexpr const char* kDeepseekV3 =
    R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+)"
    R"(| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Words, with the space before them, that end at punctuation.
constexpr const char* kNordicWords = " ?[^(\\s|.,!?\u2026\u3002\uFF0C\u3001\u0964\u06D4\u060C)]+";
constexpr const char* kBailingMoe =
    R"('(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr const char* kSeedCoder = R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N})"
                                   R"(| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kExaoneMoe =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N})"
    R"(| ?[^\s\p{L}\p{N}]+[\r\n/]?|\s*[\r\n]|\s+(?!\S)|\s+)";
constexpr const char* kQwen35 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N})"
    R"(| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr const char* kYoutuScripts =
    "[\uAC00-\uD7A3\u3131-\u318E]+|[\uFF01\u2026\u201C\u201D\u2018\u2019\u2014\uFF1A\uFF1B\uFF0C"
    "\u3001-\u303F\uFE30-\uFE4F]+|[\u3105-\u312F]+|[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+";

struct Entry {
  std::vector<std::string_view> names;
  NamedSplit split;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all{
      {{"gpt-2",        "gpt2",       "phi-2",          "mpt",         "olmo",        "jina-en",
        "jina-es",      "jina-de",    "gigachat",       "modern-bert", "roberta-bpe", "jina-v1-en",
        "jina-v2-code", "jina-v2-es", "jina-v2-de",     "a.x-4.0",     "mellum",      "exaone4",
        "jais",         "trillion",   "granite-docling"},
       {{kGpt2}}},
      {{"llama-bpe", "llama3", "llama-v3", "falcon3", "falcon-h1", "pixtral", "midm-2.0", "lfm2",
        "jina-v5-nano"},
       {{gpt4_like(R"(\p{N}{1,3})")}, true, true}},
      {{"smaug-bpe", "dbrx", "glm4", "chatglm-bpe"}, {{gpt4_like(R"(\p{N}{1,3})")}}},
      {{"qwen2", "deepseek-r1-qwen", "stablelm2", "megrez", "kormo", "f2llmv2", "hunyuan",
        "solar-open", "grok-2"},
       {{gpt4_like(R"(\p{N})")}}},
      {{"qwen35"}, {{kQwen35}}},
      {{"smollm", "starcoder", "refact", "command-r", "codeshell", "exaone", "minerva-7b"},
       {{R"(\p{N})", kGpt2}}},
      {{"gpt-4o", "llama4", "kanana2", "talkie", "minimax-m2"},
       {{cased(kContractions, R"(\p{N}{1,3})")}}},
      {{"tekken"}, {{cased("", R"(\p{N})")}, true, true}},
      {{"deepseek-llm"},
       {{R"([\r\n])", kDeepseekWords, kDeepseekMarks, R"(\s+$)", kDeepseekHan, R"(\p{N}+)"}}},
      {{"deepseek-coder"},
       {{R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kDeepseekHan, R"(\p{N})"}}},
      {{"deepseek-v3", "hunyuan-dense", "joyai-llm"},
       {{R"(\p{N}{1,3})", "[\u4E00-\u9FA5\u3040-\u309F\u30A0-\u30FF]+", kDeepseekV3}}},
      {{"viking"}, {{kNordicWords, R"(\p{N})"}}},
      {{"poro-chat", "bloom", "gpt3-finnish"}, {{kNordicWords}}},
      {{"superbpe"}, {{R"(\p{N}+)", "(?=([0-9]{3})+(?![0-9]))"}}},
      {{"bailingmoe", "bailingmoe2", "llada-moe"}, {{kBailingMoe}}},
      {{"seed-coder"}, {{kSeedCoder}}},
      {{"exaone-moe"}, {{kExaoneMoe}}},
      {{"youtu"}, {{kYoutuScripts, cased(kContractions, R"(\p{N})")}, true}},
      {{"falcon"}, {{R"([\p{P}\$\+<=>\^~\|`]+)", kGpt2, "[0-9][0-9][0-9]"}}},
      {{"default"}, {{R"([\p{P}\$\+<=>\^~\|]+)", kGpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"}}}};
  return all;
}

}  // namespace

NamedSplit named_split(std::string_view name, const std::string& where) {
  std::string known;
  for (const Entry& entry : entries()) {
    if (std::find(entry.names.begin(), entry.names.end(), name) != entry.names.end())
      return entry.split;
    known += known.empty() ? "" : ", ";
    known += entry.names.front();
  }
  fail("{}: the pre-tokenizer \"{}\" is not known, expected one of {}", where, one_line(name),
       known);
}

std::string name_of_split(const NamedSplit& split) {
  for (const auto& [names, own] : entries())
    if (own.patterns == split.patterns && own.ignore_merges == split.ignore_merges)
      return std::string(names.front());
  return {};
}

}  // namespace heed::text

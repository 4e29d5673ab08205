#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/files/tokenizer_files.h"

namespace heed::text {

/// The special tokens around a text: those of tokenizer.json, [CLS] A [SEP] B [SEP],
/// <s> A </s> </s> B </s>, or A </s> B </s>.
enum class ClassPostProcessor { of_file, bert, roberta, t5 };

/// What the classes of transformers (5) do to a tokenizer.json: those that build the tokenizer anew
/// take the vocabulary, and the other parts from tokenizer_config.json or their own defaults.
struct TokenizerClass {
  const char* name;        // without "Fast"
  const char* model_type;  // of the tokenizer.json that it can be built from
  const char* vocabulary;  // the file that it reads where there is no tokenizer.json
  std::vector<TokenizerFiles::NamedToken> tokens;  // its default special tokens
  void (*build)(nlohmann::json& json, const TokenizerFiles& files);
  ClassPostProcessor post_processor = ClassPostProcessor::of_file;
};

/// Null for a class that takes the file as it is.
const TokenizerClass* find_tokenizer_class(std::string_view name);

/// The class that transformers' AutoTokenizer chooses, given the tokenizer_class of the files,
/// without "Fast", and the model_type; either may be "". The result is "" where it takes
/// tokenizer.json as it is.
std::string class_of_tokenizer(const std::string& named, const std::string& model_type);

/// Whether a step of this type is anywhere below a part of a tokenizer.json.
bool has_step(const nlohmann::json& part, std::string_view type);

/// Adds a warning for each member of tokenizer_config.json that could change results and is not
/// applied. `json`: the tokenizer.json as it is used, or null.
void check_tokenizer_config(TokenizerFiles& files, const nlohmann::json* json);

}  // namespace heed::text

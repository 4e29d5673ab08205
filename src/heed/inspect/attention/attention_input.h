#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/generate/token_rules.h"
#include "heed/model/transformer.h"
#include "heed/text/model_tokenizer.h"

namespace heed::inspect {

/// The input of the encoder or the decoder.
struct StackInput {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<std::string> pieces;  // for display, one per id
};

/// The inputs of both stacks. A decoder-only model ignores the source, an encoder-only model the
/// target.
struct ModelInput {
  StackInput source, target;
  DType dtype = DType::f32;  // of the activations
};

/// A sentence and its translation; an empty `target` is replaced by the model's greedy translation,
/// by the rules of generation_config.json. `languages` are those of TranslateOptions, `dtype` that
/// of the activations. Throws Error on text that is not UTF-8 or exceeds the model's context
/// length, on an empty source, and on languages as translate() does.
ModelInput read_input(const model::Transformer& model, const text::TranslationTokenizer& tokenizer,
                      const std::string& source, const std::string& target,
                      const text::LanguagePair& languages = {},
                      const generate::TokenRules& rules = {}, DType dtype = DType::f32);

/// The same with either kind of tokenizer.
ModelInput read_input(const model::Transformer& model, const text::ModelTokenizer& tokenizer,
                      const std::string& text, const std::string& target,
                      const text::LanguagePair& languages = {},
                      const generate::TokenRules& rules = {}, DType dtype = DType::f32);

/// The input of a model of any family. An encoder-decoder reads `text` and `target` (its greedy
/// output if empty); other models read `text` only. Throws Error likewise, and on a target for a
/// model that is not an encoder-decoder.
ModelInput read_input(const model::Transformer& model, const text::Tokenizer& tokenizer,
                      const std::string& text, const std::string& target,
                      const generate::TokenRules& rules = {}, DType dtype = DType::f32);

}  // namespace heed::inspect

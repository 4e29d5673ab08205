#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace heed::tasks {

/// A language model as a cross-encoder, sentence-transformers' module LogitScore: the score of a
/// query and a document is the logit of one token after a prompt that asks about them ("yes"), less
/// that of another ("no") if there is one (Qwen3-Reranker, Zhang et al. 2025).
struct LogitScore {
  int32_t true_token = 0;
  std::optional<int32_t> false_token = {};
  /// How the chat template is rendered, from the messages "query" and "document" and, with a
  /// prompt, "system".
  bool add_generation_prompt = false;
  std::string chat_template_kwargs = {};  // a JSON object; empty: none
  std::string chat_template = {};         // Jinja; empty: the model's own
};

/// Reads modules.json, the module's config.json and the settings of the Transformer before it; none
/// without such a module. Throws Error, naming file and key, on modules beside the two, on tokens
/// that are none of the vocabulary's, and on settings that heed does not apply.
std::optional<LogitScore> read_logit_score(const std::filesystem::path& model_path,
                                           int64_t vocab_size);

}  // namespace heed::tasks

#include "heed/tasks/qwen3_reranker.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

/// What the model card writes around an instruction, a query and a document. Jinja leaves out a
/// line end at the end.
constexpr const char* kTemplate =
    R"({%- macro of(role) %}{{ messages | selectattr('role', 'eq', role) | map(attribute='content') | first }}{% endmacro -%}
<|im_start|>system
Judge whether the Document meets the requirements based on the Query and the Instruct provided. Note that the answer can only be "yes" or "no".<|im_end|>
<|im_start|>user
<Instruct>: {{ of('system') if messages[0]['role'] == 'system' else 'Given a web search query, retrieve relevant passages that answer the query' }}
<Query>: {{ of('query') }}
<Document>: {{ of('document') }}<|im_end|>
<|im_start|>assistant
<think>

</think>{{ '\n\n' }})";

bool is_named_so(const std::filesystem::path& model_path) {
  return lower_cased(std::filesystem::absolute(model_path).string()).find("qwen3-reranker") !=
         std::string::npos;
}

bool is_language_model_of_qwen3(const std::filesystem::path& model_path) {
  const std::filesystem::path config = model_path / "config.json";
  if (path_is_file(model_path) || path_exists(model_path / kModulesFile) || !path_exists(config))
    return false;
  const nlohmann::json json = read_object(config);
  return json.value("architectures", nlohmann::json()) == nlohmann::json({"Qwen3ForCausalLM"});
}

int32_t answer(const text::Tokenizer& tokenizer, const char* text,
               const std::filesystem::path& model_path) {
  const auto id = tokenizer.id_of(text);
  require(id.has_value(), "{}: the tokenizer has no token \"{}\", which Qwen3-Reranker answers",
          model_path.string(), text);
  return *id;
}

}  // namespace

std::optional<LogitScore> qwen3_reranker(const std::filesystem::path& model_path,
                                         const text::Tokenizer& tokenizer) {
  if (!is_named_so(model_path) || !is_language_model_of_qwen3(model_path)) return std::nullopt;
  return LogitScore{.true_token = answer(tokenizer, "yes", model_path),
                    .false_token = answer(tokenizer, "no", model_path),
                    .add_generation_prompt = true,
                    .chat_template = kTemplate};
}

}  // namespace heed::tasks

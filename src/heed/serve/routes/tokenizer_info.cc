// vLLM's description of a tokenizer, for clients that render chat templates and count tokens.
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// The contents of a file of a tokenizer; empty if there is none.
std::string_view file_of(const Tokenizer& tokenizer, std::string_view name) {
  for (const auto& [file, contents] : tokenizer.files())
    if (file == name) return contents;
  return {};
}

}  // namespace

void get_tokenizer_info(const ModelCall& call) {
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  fields.end();
  if (!call.model().has_tokenizer() || call.target.tasks.translate)
    throw invalid_request("model", "the model has no tokenizer, or one for each side");
  const Tokenizer tokenizer = call.model().tokenizer("tokenizer_info");
  const std::string_view config = file_of(tokenizer, "tokenizer_config.json");
  Json info = config.empty() ? Json::object() : parse_body(config);
  const SpecialTokens& special = tokenizer.special_tokens();
  const auto add = [&](const char* name, const std::optional<int32_t>& token) {
    if (token && !info.contains(name)) info[name] = tokenizer.token(*token);
  };
  add("bos_token", special.bos);
  add("eos_token", special.eos);
  add("pad_token", special.pad);
  add("unk_token", special.unk);
  if (!info.contains("tokenizer_class")) info["tokenizer_class"] = "PreTrainedTokenizerFast";
  if (!info.contains("model_max_length") && call.model().context_length() > 0)
    info["model_max_length"] = call.model().context_length();
  if (const std::string_view text = file_of(tokenizer, "chat_template.jinja"); !text.empty())
    info["chat_template"] = text;
  call.call->respond_json(info);
}

}  // namespace heed::serve

#include "heed/engine/chat_requests.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/engine/loaded_model.h"

namespace heed::engine {

void set_chat_sampling(GenerateOptions& options, const Model& model) {
  if (options.temperature) return;
  const generate::GenerationConfig& suggested = loaded(model).generation.value();
  const bool asked = options.top_k || options.top_p || options.min_p;
  if (!asked && (suggested.do_sample == false || !suggested.sampling_refusal.empty())) return;
  options.sample = true;
  if (!suggested.names_temperature) options.temperature = kChatTemperature;
}

bool set_reasoning_effort(ChatOptions& options, const std::string& effort, const Model& model) {
  const chat::ChatTemplate& used = loaded(model).chat_templates.value().choose(options);
  auto variables = nlohmann::ordered_json::object();
  if (const std::string& given = options.chat_template_kwargs; !given.empty())
    variables = blame_input([&] { return parse_ordered_json(given, "chat_template_kwargs"); });
  bool known = false;
  const auto set = [&](const char* variable, const nlohmann::ordered_json& value) {
    if (!used.mentions(variable)) return;
    known = true;
    if (!variables.contains(variable)) variables[variable] = value;
  };
  set("reasoning_effort", effort);
  set("enable_thinking", effort != "none");
  set("thinking", effort != "none");
  if (known) options.chat_template_kwargs = dump_json(variables);
  return known;
}

}  // namespace heed::engine

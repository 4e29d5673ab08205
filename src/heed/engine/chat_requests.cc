#include "heed/engine/chat_requests.h"

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

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

namespace {

using Variables = std::vector<std::pair<const char*, nlohmann::ordered_json>>;

/// Sets the variables that the chat template mentions. Returns whether there is one.
bool set_variables(ChatOptions& options, const Variables& wanted, const Model& model) {
  const chat::ChatTemplate& used = loaded(model).chat_templates.value().choose(options);
  auto variables = nlohmann::ordered_json::object();
  if (const std::string& given = options.chat_template_kwargs; !given.empty())
    variables = blame_input([&] { return parse_ordered_json(given, "chat_template_kwargs"); });
  bool known = false;
  for (const auto& [name, value] : wanted) {
    if (!used.mentions(name)) continue;
    known = true;
    if (!variables.contains(name)) variables[name] = value;
  }
  if (known) options.chat_template_kwargs = dump_json(variables);
  return known;
}

}  // namespace

bool set_reasoning_effort(ChatOptions& options, const std::string& effort, const Model& model) {
  const bool thinking = effort != "none";
  return set_variables(
      options,
      {{"reasoning_effort", effort}, {"enable_thinking", thinking}, {"thinking", thinking}}, model);
}

// Qwen's, GLM's and others' name, and DeepSeek's and Granite's.
bool set_thinking(ChatOptions& options, bool thinking, const Model& model) {
  return set_variables(options, {{"enable_thinking", thinking}, {"thinking", thinking}}, model);
}

}  // namespace heed::engine

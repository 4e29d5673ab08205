#include "cli/chat/chat_settings.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "cli/options/declared_options.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/base/parse_number.h"
#include "heed/base/quote.h"
#include "heed/generate/generate_options.h"

namespace heed::cli {
namespace {

/// Calls `visit` with each option that is a setting.
template <typename Visit>
void for_each_setting(const Visit& visit) {
  generate::for_each_sampling_option(visit);
  visit(generate::GenerateOption::max_new_tokens);
}

template <typename Number>
Number parse(const std::string& name, const std::string& text, Number min, Number max) {
  const auto value = parse_number<Number>(text);
  require(value && *value >= min && *value <= max, "{} is {}, expected a number from {} to {}",
          name, quoted(text), min, max);
  return *value;
}

constexpr const char* kThinking = "enable_thinking";

nlohmann::ordered_json kwargs_of(const ChatOptions& chat) {
  if (chat.chat_template_kwargs.empty()) return nlohmann::ordered_json::object();
  return parse_ordered_json(chat.chat_template_kwargs, "chat_template_kwargs");
}

void set_thinking(ChatOptions& chat, const std::string& value) {
  require(value == "on" || value == "off", "thinking is {}, expected on or off", quoted(value));
  nlohmann::ordered_json kwargs = kwargs_of(chat);
  kwargs[kThinking] = value == "on";
  chat.chat_template_kwargs = dump_json(kwargs);
}

std::string thinking(const ChatOptions& chat) {
  const nlohmann::ordered_json kwargs = kwargs_of(chat);
  if (!kwargs.contains(kThinking)) return "the template's default";
  return kwargs[kThinking] == true ? "on" : "off";
}

}  // namespace

std::string settings_text(const ConversationOptions& options) {
  std::string text;
  const auto add = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<20}{}\n", name, value);
  };
  for_each_setting([&]<typename Setting>(const Setting& setting) {
    const std::optional<typename Setting::Number> value = options.generate.*setting.field;
    add(spelling_of(setting), value ? fmt::format("{}", *value) : "the model's default");
  });
  add("seed", fmt::format("{}", options.generate.seed));
  add("thinking", thinking(options.chat));
  add("when-full", std::string(name_of(options.when_full)));
  return text;
}

void apply_setting(ConversationOptions& options, const std::string& assignment) {
  const size_t space = assignment.find_first_of(" =");
  const std::string name = assignment.substr(0, space);
  const size_t begin = assignment.find_first_not_of(" =", space);
  const std::string value = begin == assignment.npos ? "" : assignment.substr(begin);
  bool found = false;
  for_each_setting([&]<typename Setting>(const Setting& setting) {
    if (name != spelling_of(setting)) return;
    options.generate.*setting.field = static_cast<typename Setting::Number>(
        parse(name, value, setting.typed.min, setting.typed.max));
    found = true;
  });
  if (found) return;
  if (name == "seed") {
    options.generate.seed = parse(name, value, uint64_t{0}, std::numeric_limits<uint64_t>::max());
  } else if (name == "thinking") {
    set_thinking(options.chat, value);
  } else if (name == "when-full") {
    options.when_full = named(value, enumerators<WhenFull>());
  } else {
    fail("there is no setting {}: /set shows them", quoted(name));
  }
}

}  // namespace heed::cli

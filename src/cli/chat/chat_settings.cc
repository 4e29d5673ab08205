#include "cli/chat/chat_settings.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/base/quote.h"

namespace heed::cli {
namespace {

/// Where a setting of type Number is kept, and which values it may have.
template <typename Number>
struct Range {
  std::string_view name;
  std::optional<Number> GenerateOptions::*value;
  Number min, max;
};
constexpr Range<float> kNumbers[] = {
    {"temperature", &GenerateOptions::temperature, 0, 1000},
    {"top-p", &GenerateOptions::top_p, 1e-6f, 1},
    {"min-p", &GenerateOptions::min_p, 0, 1},
    {"repetition-penalty", &GenerateOptions::repetition_penalty, 1e-3f, 1000}};
constexpr Range<int64_t> kCounts[] = {
    {"top-k", &GenerateOptions::top_k, 0, int64_t{1} << 30},
    {"max-new-tokens", &GenerateOptions::max_new_tokens, 1, int64_t{1} << 30}};

template <typename Number>
Number parse(const std::string& name, const std::string& text, Number min, Number max) {
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  require(error == std::errc() && at == end && value >= min && value <= max,
          "{} is {}, expected a number from {} to {}", name, quoted(text), min, max);
  return value;
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
  const auto add_range = [&](const auto& range) {
    const auto& value = options.generate.*range.value;
    add(range.name, value ? fmt::format("{}", *value) : "the model's default");
  };
  for (const auto& range : kNumbers) add_range(range);
  for (const auto& range : kCounts) add_range(range);
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
  const auto set_any = [&](const auto& ranges) {
    const auto range = std::ranges::find(ranges, name, [](const auto& one) { return one.name; });
    if (range == std::end(ranges)) return false;
    options.generate.*(range->value) = parse(name, value, range->min, range->max);
    return true;
  };
  if (set_any(kNumbers) || set_any(kCounts)) return;
  if (name == "seed") {
    options.generate.seed = parse(name, value, uint64_t{0}, std::numeric_limits<uint64_t>::max());
  } else if (name == "thinking") {
    set_thinking(options.chat, value);
  } else if (name == "when-full") {
    options.when_full = named(value, std::array{WhenFull::stop, WhenFull::drop_oldest});
  } else {
    fail("there is no setting {}: /set shows them", quoted(name));
  }
}

}  // namespace heed::cli

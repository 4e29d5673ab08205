#include "heed/chat/chat_template.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/chat/answer_format.h"
#include "heed/chat/channels.h"
#include "heed/chat/messages.h"
#include "heed/chat/tool_prompt.h"
#include "heed/text/utf8.h"

namespace heed::chat {
namespace {

using Json = nlohmann::ordered_json;

/// Special tokens, and the other added tokens that the template writes itself, such as <think>.
std::unordered_set<int32_t> control_tokens_of(const std::string& source,
                                              const text::Tokenizer& tokenizer) {
  std::unordered_set<int32_t> control;
  for (const int32_t id : tokenizer.added_tokens()) {
    const std::string& piece = tokenizer.piece(id);
    if (tokenizer.is_special(id) || (!trimmed(piece).empty() && source.find(piece) != source.npos))
      control.insert(id);
  }
  return control;
}

struct SpecialToken {
  std::string_view name;
  std::optional<int32_t> text::SpecialTokens::*id;
};
constexpr SpecialToken kSpecialTokens[] = {
    {"bos_token", &text::SpecialTokens::bos},  {"eos_token", &text::SpecialTokens::eos},
    {"unk_token", &text::SpecialTokens::unk},  {"sep_token", &text::SpecialTokens::sep},
    {"pad_token", &text::SpecialTokens::pad},  {"cls_token", &text::SpecialTokens::cls},
    {"mask_token", &text::SpecialTokens::mask}};

constexpr auto kSpecialTokenNames = [] {
  std::array<std::string_view, std::size(kSpecialTokens)> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = kSpecialTokens[i].name;
  return names;
}();

/// The functions that the model is told of; null without any.
Json read_tools(const ChatOptions& options) {
  const bool needs_tools = options.tool_choice != "auto" && options.tool_choice != "none";
  if (options.tool_choice == "none" || (options.tools.empty() && !needs_tools)) return nullptr;
  Json json = Json::array();
  if (!options.tools.empty())
    json = blame_input([&] { return parse_ordered_json(options.tools, "tools"); });
  require_input(json.is_array(), "tools is {}, expected a list", excerpt(json));
  for (size_t i = 0; i < json.size(); ++i) {
    const Json& tool = json[i];
    require_input(tool.is_object() && tool.contains("function") && tool["function"].is_object() &&
                      tool["function"].contains("name") && tool["function"]["name"].is_string(),
                  "tools[{}] is {}, expected {{\"type\": \"function\", \"function\": "
                  "{{\"name\": ..., \"parameters\": ...}}}}",
                  i, excerpt(tool));
  }
  require_input(!needs_tools || !json.empty(), "tool_choice is {}, but there are no tools",
                quoted(options.tool_choice));
  return json.empty() ? Json() : json;
}

/// Those that an answer may call: all, or the one that is chosen.
std::vector<OfferedTool> offered_tools(const Json& tools, const std::string& choice) {
  std::vector<OfferedTool> offered;
  for (const Json& tool : tools) {
    const Json& function = tool["function"];
    OfferedTool one{.name = function["name"].get<std::string>(),
                    .strict = function.value("strict", Json()) == true};
    if (const auto found = function.find("parameters"); found != function.end())
      one.parameters = dump_json(*found);
    if (choice == "auto" || choice == "required" || choice == one.name)
      offered.push_back(std::move(one));
  }
  require_input(!offered.empty(),
                "tool_choice is {}, expected auto, none, required or the name of a function",
                quoted(choice));
  return offered;
}

Json read_kwargs(const std::string& kwargs) {
  if (kwargs.empty()) return Json::object();
  Json json = blame_input([&] { return parse_ordered_json(kwargs, "chat_template_kwargs"); });
  require_input(json.is_object(), "chat_template_kwargs is {}, expected an object", excerpt(json));
  return json;
}

constexpr std::string_view kRoles[] = {"system",    "developer", "user",
                                       "assistant", "tool",      "function"};

/// Whether a template has a string of its own for a role.
bool names_role(const std::string& source, std::string_view role) {
  return source.find(fmt::format("'{}'", role)) != source.npos ||
         source.find(fmt::format("\"{}\"", role)) != source.npos;
}

}  // namespace

ChatTemplate::ChatTemplate(const StoredTemplate& stored, const text::Tokenizer& tokenizer)
    : source_(stored.source),
      tokenizer_(tokenizer),
      template_(jinja::Template::parse(stored.source, stored.file)),
      control_tokens_(control_tokens_of(stored.source, tokenizer)) {
  if (const auto end = end_of_turn()) end_tokens_.push_back(*end);
  if (has_channels(source_))
    if (const auto end = tokenizer_.id_of(kChannelCallEnd)) end_tokens_.push_back(*end);
}

bool ChatTemplate::mentions(std::string_view variable) const {
  return source_.find(variable) != source_.npos;
}

jinja::Rendered ChatTemplate::render(std::span<const ChatMessage> messages,
                                     const ChatOptions& options) const {
  require_input(!messages.empty(), "there are no messages");
  std::vector<ChatMessage> own = checked(messages);
  Json tools = read_tools(options);
  if (!tools.is_null() && source_.find("tools") == source_.npos) {
    own = describe_tools(std::move(own), tools);
    tools = nullptr;
  }
  Json context = {{"messages", Json::array()}};
  for (const ChatMessage& message : own)
    context["messages"].push_back(
        to_template(message, place_of_message(context["messages"].size())));
  context["tools"] = std::move(tools);
  context["documents"] = nullptr;
  context["add_generation_prompt"] = options.add_generation_prompt;
  context.update(read_kwargs(options.chat_template_kwargs));
  for (const SpecialToken& token : kSpecialTokens)
    if (const auto id = tokenizer_.special_tokens().*token.id)
      context[std::string(token.name)] = tokenizer_.piece(*id);
  // A template is checked when it is read: what it cannot render are these messages.
  return blame_input([&] { return template_.render(context, {}, kSpecialTokenNames); });
}

/// What OpenAI's models know as developer is system to others, whose templates would take it for a
/// conversation without a system message.
std::vector<ChatMessage> ChatTemplate::checked(std::span<const ChatMessage> messages) const {
  std::vector<ChatMessage> result(messages.begin(), messages.end());
  for (size_t i = 0; i < result.size(); ++i) {
    ChatMessage& message = result[i];
    const std::string place = place_of_message(i);
    for (const std::string* text : {&message.role, &message.content, &message.reasoning_content})
      text::require_utf8(*text, place);
    const bool named = names_role(source_, message.role);
    require_input(named || std::ranges::find(kRoles, message.role) != std::end(kRoles),
                  "{}.role is {}, expected one of {}", place, quoted(message.role),
                  fmt::join(kRoles, ", "));
    if (message.role == "developer" && !named) message.role = "system";
  }
  return result;
}

std::vector<int32_t> ChatTemplate::encode(const jinja::Rendered& rendered,
                                          const ChatOptions& options, size_t begin) const {
  const std::string_view text = std::string_view(rendered.text).substr(begin);
  if (options.control_tokens_in_messages) return tokenizer_.encode(text, false);
  std::vector<text::TextSpan> input;
  for (const jinja::Span& span : rendered.input)
    if (span.end > begin) input.push_back({std::max(span.begin, begin) - begin, span.end - begin});
  return tokenizer_.encode(text, text::UntrustedParts{input, control_tokens_});
}

/// A model may have written its answer in other tokens than those of its text. They are kept if a
/// control token follows, to which no earlier token can extend.
std::vector<int32_t> ChatTemplate::encode_after(const ChatPrompt& earlier,
                                                const jinja::Rendered& rendered,
                                                const ChatOptions& options) const {
  const size_t begin = earlier.text.size();
  if (begin > 0 && begin < rendered.text.size() && rendered.text.starts_with(earlier.text)) {
    const std::vector<int32_t> rest = encode(rendered, options, begin);
    if (!rest.empty() && control_tokens_.contains(rest.front())) {
      std::vector<int32_t> tokens = earlier.tokens;
      tokens.insert(tokens.end(), rest.begin(), rest.end());
      return tokens;
    }
  }
  return encode(rendered, options);
}

AnswerFormat ChatTemplate::answer_format(const ChatOptions& options,
                                         const std::string& rendered) const {
  AnswerFormat format;
  format.channels = has_channels(source_);
  if (const Json tools = read_tools(options); !tools.is_null()) {
    format.tool_calls = tool_call_format(source_);
    format.tools = offered_tools(tools, options.tool_choice);
    format.must_call = options.tool_choice != "auto";
    format.parallel_tool_calls = options.parallel_tool_calls;
  }
  const ReasoningMarks marks = reasoning_marks(source_);
  format.reasoning_begin = marks.begin;
  format.reasoning_end = marks.end;
  if (marks.begin.empty()) return format;
  format.begins_with_reasoning =
      options.add_generation_prompt && trimmed(rendered).ends_with(marks.begin);
  return format;
}

ChatPrompt ChatTemplate::prompt(std::span<const ChatMessage> messages, const ChatOptions& options,
                                const ChatPrompt& earlier) const {
  jinja::Rendered rendered = render(messages, options);
  std::vector<int32_t> tokens = encode_after(earlier, rendered, options);
  AnswerFormat answer = answer_format(options, rendered.text);
  return {std::move(rendered.text), std::move(tokens), end_tokens_, std::move(answer)};
}

/// The token that the template puts after an answer. Files may name only the end of a text, which
/// chat models do not write: an answer would never end.
std::optional<int32_t> ChatTemplate::end_of_turn() const {
  const std::string answer = "An answer.";
  const ChatMessage messages[] = {{.role = "user", .content = "A question."},
                                  {.role = "assistant", .content = answer}};
  try {
    const std::string text = render(messages, {.add_generation_prompt = false}).text;
    const size_t found = text.rfind(answer);
    if (found == text.npos) return std::nullopt;
    const auto tokens = tokenizer_.encode(text.substr(found + answer.size()), false);
    const auto token = std::ranges::find_if(
        tokens, [&](int32_t id) { return !trimmed(tokenizer_.decode({{id}}, false)).empty(); });
    if (token == tokens.end() || !tokenizer_.is_special(*token)) return std::nullopt;
    return *token;
  } catch (const Error&) {
    return std::nullopt;  // a template that refuses these messages
  }
}

ChatTemplate own_template(const std::string& source, const text::Tokenizer& tokenizer) {
  return ChatTemplate({"", source, "the chat template"}, tokenizer);
}

ChatTemplates::ChatTemplates(ChatTemplate only) : default_(std::move(only)) {}

ChatTemplates::ChatTemplates(const std::filesystem::path& model, const text::Tokenizer& tokenizer)
    : ChatTemplates(read_chat_templates(model), model, tokenizer) {}

ChatTemplates::ChatTemplates(std::span<const StoredTemplate> stored,
                             const std::filesystem::path& model, const text::Tokenizer& tokenizer) {
  require(!stored.empty(),
          "{} has no chat template, expected {}: it may not be made for conversations; "
          "--chat-template FILE sets one",
          model.string(),
          model.extension() == ".gguf"
              ? "tokenizer.chat_template in its metadata"
              : "chat_template.jinja or chat_template in tokenizer_config.json");
  for (const StoredTemplate& each : stored) {
    if (each.name == "default") default_.emplace(each, tokenizer);
    if (each.name == "tool_use") tool_use_.emplace(each, tokenizer);
  }
  require(default_ || tool_use_, "{}: no chat template is named default", model.string());
}

const ChatTemplate& ChatTemplates::choose(const ChatOptions& options) const {
  const bool tools = !options.tools.empty() && options.tool_choice != "none";
  return tool_use_ && (tools || !default_) ? *tool_use_ : *default_;
}

}  // namespace heed::chat

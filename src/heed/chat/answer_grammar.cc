#include "heed/chat/answer_grammar.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/ascii.h"
#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/chat/call_syntax.h"
#include "heed/chat/channels.h"
#include "heed/constrain/constraint.h"
#include "heed/constrain/schema/json_schema.h"
#include "heed/constrain/vocabulary.h"

namespace heed::chat {
namespace {

using constrain::ByteSet;
using constrain::ExpressionId;
using constrain::GrammarBuilder;
using constrain::Symbol;
using Json = nlohmann::ordered_json;

/// White space between the parts of an answer, in characters.
constexpr uint32_t kMostSpace = 16;

class AnswerGrammar {
 public:
  AnswerGrammar(GrammarBuilder& builder, const AnswerFormat& format,
                const text::Tokenizer& tokenizer, std::optional<Symbol> content)
      : builder_(builder), format_(format), tokenizer_(tokenizer), content_(content) {
    ByteSet white_space;
    for (const char c : kWhiteSpace) white_space.add(static_cast<uint8_t>(c));
    space_ =
        builder_.terminal(expressions().repeat(expressions().bytes(white_space), 0, kMostSpace));
    for (size_t i = 0; i < format.tools.size(); ++i) arguments_.push_back(read_arguments(i));
  }

  Symbol answer() {
    if (format_.channels) return answer_in_channels();
    return builder_.sequence({reasoning(), body()});
  }

 private:
  constrain::Expressions& expressions() { return builder_.expressions(); }
  Symbol literal(std::string_view text) { return builder_.terminal(expressions().literal(text)); }
  Symbol mark(std::string_view text) { return literal(mark_text(text)); }
  bool is_special(std::string_view text) const {
    const std::optional<int32_t> id = tokenizer_.id_of(text);
    return id && tokenizer_.is_special(*id);
  }
  std::string mark_text(std::string_view text) const {
    return is_special(text) ? constrain::special_token_text(text) : std::string(text);
  }

  /// Any text of tokens that are not special, without the marks of `excluded`.
  ExpressionId text_without(std::span<const std::string_view> excluded) {
    constrain::Expressions& e = expressions();
    std::vector<ExpressionId> parts = {e.repeat(e.bytes(~ByteSet::of(constrain::kSpecialMark)), 0,
                                                constrain::Expressions::kUnbounded)};
    for (const std::string_view each : excluded) {
      if (each.empty() || is_special(each)) continue;
      const ExpressionId with_mark[] = {e.any(), e.literal(each), e.any()};
      parts.push_back(e.complement(e.concatenate(with_mark)));
    }
    return e.intersect(parts);
  }
  ExpressionId text_without(std::string_view excluded) {
    return text_without(std::span(&excluded, 1));
  }

  Symbol reasoning() {
    if (format_.reasoning_end.empty()) return builder_.empty();
    const Symbol rest = builder_.sequence({builder_.terminal(text_without(format_.reasoning_end)),
                                           mark(format_.reasoning_end), space_});
    if (format_.begins_with_reasoning) return rest;
    return builder_.optional(builder_.sequence({space_, mark(format_.reasoning_begin), rest}));
  }

  Symbol body() {
    if (format_.tools.empty()) return content_ ? *content_ : any_text();
    if (format_.must_call) return calls();
    if (content_) return builder_.choice({*content_, calls()});
    return builder_.sequence({any_text(), builder_.optional(calls())});
  }

  /// Content that is not read as a call.
  Symbol any_text() {
    ExpressionId text = text_without(call_marks(format_.tool_calls).begin);
    if (format_.tool_calls == ToolCallFormat::llama) {
      constrain::Expressions& e = expressions();
      const ExpressionId object[] = {builder_.fold(space_), e.literal("{"), e.any()};
      text = e.intersect(text, e.complement(e.concatenate(object)));
    }
    return builder_.terminal(text);
  }

  /// The arguments of a function: an object that its schema allows.
  Symbol read_arguments(size_t tool) {
    const OfferedTool& offered = format_.tools[tool];
    const bool enforced = offered.strict || format_.must_call;
    const std::string parameters = enforced ? offered.parameters : "";
    try {
      Json schema = Json::object();
      if (!parameters.empty()) schema = parse_ordered_json(parameters, "");
      if (schema.is_boolean() && schema) schema = Json::object();
      require(schema.is_object() && schema.value("type", Json("object")) == "object",
              "it is {}, expected a schema of the type object", excerpt(schema));
      schema["type"] = "object";
      return constrain::add_json_schema(builder_, schema.dump());
    } catch (const Error& error) {
      throw InputError(
          fmt::format("tools: the parameters of {}: {}", quoted(offered.name), error.what()));
    }
  }

  /// One of the functions, each written by `write`.
  template <typename Write>
  Symbol any_function(const Write& write) {
    std::vector<Symbol> all;
    for (size_t i = 0; i < format_.tools.size(); ++i)
      all.push_back(write(format_.tools[i].name, arguments_[i]));
    return builder_.choice(std::move(all));
  }

  /// {"name": NAME, "`arguments_key`": ARGUMENTS}
  Symbol call_object(std::string_view arguments_key) {
    return any_function([&](const std::string& name, Symbol arguments) {
      std::vector<Symbol> parts;
      for (const std::string& token :
           {std::string("{"), std::string("\"name\""), std::string(":"), dump_json(Json(name)),
            std::string(","), fmt::format("\"{}\"", arguments_key), std::string(":")}) {
        parts.push_back(literal(token));
        parts.push_back(space_);
      }
      parts.insert(parts.end(), {arguments, space_, literal("}")});
      return builder_.sequence(std::move(parts));
    });
  }

  /// `call`, and further ones behind `between` where several are allowed.
  Symbol some(Symbol call, Symbol between) {
    if (!format_.parallel_tool_calls) return call;
    return builder_.sequence(
        {call, builder_.repeat(builder_.sequence({between, call}), 0, GrammarBuilder::kUnbounded)});
  }

  Symbol comma() { return builder_.sequence({space_, literal(","), space_}); }

  Symbol list_of_calls() {
    return builder_.sequence(
        {literal("["), space_, some(call_object("arguments"), comma()), space_, literal("]")});
  }

  Symbol calls() {
    switch (format_.tool_calls) {
      case ToolCallFormat::none:
        break;
      case ToolCallFormat::hermes:
        return hermes_calls();
      case ToolCallFormat::llama:
        return builder_.sequence(
            {builder_.optional(mark(call_marks(ToolCallFormat::llama).begin)),
             some(call_object("parameters"), builder_.sequence({space_, literal(";"), space_}))});
      case ToolCallFormat::mistral:
        return mistral_calls();
      case ToolCallFormat::deepseek:
        return deepseek_calls();
    }
    fail("the model has no syntax for calls of tools");
  }

  Symbol hermes_calls() {
    const CallMarks marks = call_marks(ToolCallFormat::hermes);
    const Symbol one = builder_.sequence(
        {mark(marks.begin), space_, builder_.choice({call_object("arguments"), list_of_calls()}),
         space_, mark(marks.end)});
    return some(one, space_);
  }

  /// A list, or NAME[ARGS]{...} where the tokenizer has that token.
  Symbol mistral_calls() {
    const Symbol begin = mark(kMistralCall);
    const Symbol list = builder_.sequence({begin, space_, list_of_calls()});
    if (!tokenizer_.id_of(kMistralArguments)) return list;
    const Symbol named = any_function([&](const std::string& name, Symbol arguments) {
      return builder_.sequence({begin, literal(name), mark(kMistralArguments), arguments});
    });
    return builder_.choice({list, some(named, builder_.empty())});
  }

  Symbol deepseek_calls() {
    const CallMarks marks = call_marks(ToolCallFormat::deepseek);
    const Symbol separator = mark(kDeepseekSeparator);
    const Symbol one = any_function([&](const std::string& name, Symbol arguments) {
      const Symbol fenced =
          builder_.sequence({literal("function"), separator, literal(name + "\n```json\n"),
                             arguments, literal("\n```")});
      const Symbol bare = builder_.sequence({literal(name), separator, arguments});
      return builder_.sequence(
          {mark(kDeepseekCall), builder_.choice({fenced, bare}), mark(kDeepseekCallEnd)});
    });
    return builder_.sequence(
        {mark(marks.begin), space_, some(one, space_), space_, mark(marks.end)});
  }

  /// Messages of the channel analysis; then the content, or a call, which ends the answer.
  Symbol answer_in_channels() {
    const Symbol channel = mark(kChannel), message = mark(kMessage);
    const Symbol analysis = builder_.sequence(
        {channel, literal("analysis"), message, builder_.terminal(text_without(kMessageEnds)),
         mark(kMessageEnd), mark(kMessageStart), literal("assistant")});
    std::vector<Symbol> last;
    if (!format_.must_call)
      last.push_back(builder_.sequence(
          {channel, literal("final"), message,
           content_ ? *content_ : builder_.terminal(text_without(kMessageEnds))}));
    if (!format_.tools.empty()) last.push_back(call_in_channel(channel, message));
    return builder_.sequence({builder_.repeat(analysis, 0, GrammarBuilder::kUnbounded),
                              builder_.choice(std::move(last))});
  }

  /// The recipient stands before the channel, as in the template, or behind it.
  Symbol call_in_channel(Symbol channel, Symbol message) {
    const Symbol json = builder_.choice(
        {literal(" json"), builder_.sequence({literal(" "), mark(kConstrain), literal("json")}),
         builder_.empty()});
    return any_function([&](const std::string& name, Symbol arguments) {
      const std::string recipient = fmt::format(" to=functions.{}", name);
      const Symbol header =
          builder_.choice({builder_.sequence({literal(recipient), channel, literal("commentary")}),
                           builder_.sequence({channel, literal("commentary" + recipient)})});
      return builder_.sequence({header, json, message, arguments});
    });
  }

  GrammarBuilder& builder_;
  const AnswerFormat& format_;
  const text::Tokenizer& tokenizer_;
  std::optional<Symbol> content_;
  Symbol space_;
  std::vector<Symbol> arguments_;  // of each tool
};

}  // namespace

bool restricts_answers(const AnswerFormat& format) {
  return format.must_call || (!format.tools.empty() && !format.parallel_tool_calls) ||
         std::ranges::any_of(format.tools, &OfferedTool::strict);
}

Symbol add_answer(GrammarBuilder& builder, const AnswerFormat& format,
                  const text::Tokenizer& tokenizer, std::optional<Symbol> content) {
  return AnswerGrammar(builder, format, tokenizer, content).answer();
}

}  // namespace heed::chat

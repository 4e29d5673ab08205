#include "heed/chat/answer_format.h"

#include "heed/chat/answer_grammar.h"

namespace heed::chat {

ToolCallFormat tool_call_format(std::string_view source) {
  const auto has = [&](std::string_view part) { return source.find(part) != source.npos; };
  if (has("<｜tool▁call")) return ToolCallFormat::deepseek;
  if (has("[TOOL_CALLS]")) return ToolCallFormat::mistral;
  if (has("<tool_call>")) return ToolCallFormat::hermes;
  if (has("<|python_tag|>") || (has("ipython") && has("parameters"))) return ToolCallFormat::llama;
  return ToolCallFormat::hermes;
}

ReasoningMarks reasoning_marks(std::string_view source) {
  for (const ReasoningMarks marks :
       {ReasoningMarks{"<think>", "</think>"}, ReasoningMarks{"[THINK]", "[/THINK]"}})
    if (source.find(marks.end) != source.npos) return marks;
  return {};
}

}  // namespace heed::chat

namespace heed {

GenerateOptions answer_options(const ChatPrompt& prompt, const GenerateOptions& options) {
  GenerateOptions complete = options;
  // An answer of nothing but content is what the content must match.
  const AnswerFormat& format = prompt.answer;
  const bool has_more = format.channels || !format.tools.empty() || !format.reasoning_end.empty();
  const bool has_options = options.structured_output != StructuredOutput();
  if ((has_options && has_more) || chat::restricts_answers(format))
    complete.structured_output.answer = prompt.answer;
  complete.skip_special_tokens = false;
  complete.end_tokens.insert(complete.end_tokens.end(), prompt.end_tokens.begin(),
                             prompt.end_tokens.end());
  return complete;
}

}  // namespace heed

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
  if (options.structured_output != StructuredOutput() || chat::restricts_answers(prompt.answer))
    complete.structured_output.answer = prompt.answer;
  complete.skip_special_tokens = false;
  complete.end_tokens.insert(complete.end_tokens.end(), prompt.end_tokens.begin(),
                             prompt.end_tokens.end());
  return complete;
}

}  // namespace heed

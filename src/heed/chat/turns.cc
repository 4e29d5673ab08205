#include <algorithm>

#include "heed/base/error.h"
#include "heed/chat/chat_template.h"
#include "heed/chat/messages.h"

namespace heed::chat {
namespace {

size_t common_size(std::string_view a, std::string_view b) {
  return static_cast<size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

size_t size_without_line_ends(std::string_view text) {
  return text.find_last_not_of("\r\n") + 1;  // npos + 1 is 0
}

}  // namespace

/// Without marks in the template, an assistant wrote what a conversation that ends with its message
/// has more than the prompt for it.
std::vector<jinja::Span> ChatTemplate::assistant_spans(std::span<const ChatMessage> messages,
                                                       const ChatOptions& options,
                                                       const jinja::Rendered& whole) const {
  if (source_.find("endgeneration") != source_.npos) return whole.generations;
  ChatOptions with_prompt = options, without = options;
  with_prompt.add_generation_prompt = true;
  without.add_generation_prompt = false;
  std::vector<jinja::Span> spans;
  for (size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].role != "assistant") continue;
    require(i > 0, "{} is an assistant's, which no prompt precedes", place_of_message(i));
    const std::string prompt = render(messages.first(i), with_prompt).text;
    const std::string until = render(messages.first(i + 1), without).text;
    require(whole.text.starts_with(until),
            "{}: the chat template changes earlier messages when others follow; to learn "
            "from it, mark what assistants write with {{% generation %}} in a template of your own",
            place_of_message(i));
    const size_t begin = common_size(prompt, until);
    spans.push_back({begin, std::max(begin, size_without_line_ends(until))});
  }
  return spans;
}

ChatTemplate::Turns ChatTemplate::turns(std::span<const ChatMessage> messages,
                                        const ChatOptions& options) const {
  ChatOptions all = options;
  all.add_generation_prompt = false;
  const jinja::Rendered rendered = render(messages, all);
  Turns turns{.tokens = encode(rendered, all), .assistant = {}};
  turns.assistant.resize(turns.tokens.size());
  // Tokens do not know their bytes: those before a byte are the ones that the text up to it shares
  // with the whole.
  const auto tokens_before = [&](size_t byte) {
    jinja::Rendered part{rendered.text.substr(0, byte), {}, {}};
    for (const jinja::Span& span : rendered.input)
      if (span.begin < byte) part.input.push_back({span.begin, std::min(span.end, byte)});
    const std::vector<int32_t> tokens = encode(part, all);
    return std::ranges::mismatch(tokens, turns.tokens).in2 - turns.tokens.begin();
  };
  for (const jinja::Span& span : assistant_spans(messages, all, rendered))
    std::fill(turns.assistant.begin() + tokens_before(span.begin),
              turns.assistant.begin() + tokens_before(span.end), true);
  return turns;
}

}  // namespace heed::chat

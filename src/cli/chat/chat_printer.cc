#include "cli/chat/chat_printer.h"

#include <cstdlib>
#include <iostream>

#include "cli/lines/output.h"
#include "heed/base/display.h"

namespace heed::cli {
namespace {

constexpr std::string_view kDim = "\x1b[2m", kNormal = "\x1b[0m";

bool colours_wanted() {
  const char* no_color = std::getenv("NO_COLOR");
  return no_color == nullptr || *no_color == '\0';
}

/// `text` with line ends and tabs, but no other control characters.
std::string without_control_characters(std::string_view text) {
  std::string result;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find_first_of("\n\t", begin), text.size());
    result += printable(text.substr(begin, end - begin));
    if (end < text.size()) result += text[end];
    begin = end + 1;
  }
  return result;
}

}  // namespace

void ChatPrinter::write(std::string_view text) {
  if (text.empty()) return;
  if (terminal_)
    std::cout << without_control_characters(text);
  else
    std::cout << text;
  line_open_ = !text.ends_with('\n');
}

/// Switches between reasoning and the answer proper.
void ChatPrinter::begin(bool reasoning) {
  if (reasoning == reasoning_) return;
  if (!reasoning) std::cout << (line_open_ ? "\n\n" : "\n");
  reasoning_ = reasoning;
  line_open_ = false;
}

void ChatPrinter::print(const ChatAnswer& part) {
  if (!part.reasoning_content.empty()) {
    const bool dim = terminal_ && colours_wanted();
    begin(true);
    // Each part is dim on its own, so that the terminal is left as it was at any moment.
    if (dim) std::cout << kDim;
    write(part.reasoning_content);
    if (dim) std::cout << kNormal;
  }
  if (!part.content.empty() || !part.tool_calls.empty()) begin(false);
  write(part.content);
  for (const ToolCall& call : part.tool_calls) {
    if (line_open_) write("\n");
    write("call " + call.name + ' ' + call.arguments + '\n');
  }
  flush_output();
}

void ChatPrinter::finish() {
  if (line_open_) std::cout << '\n';
  line_open_ = reasoning_ = false;
  flush_output();
}

}  // namespace heed::cli

#include <algorithm>
#include <utility>

#include "heed/base/ascii.h"
#include "heed/base/random.h"
#include "heed/chat.h"
#include "heed/chat/call_syntax.h"
#include "heed/chat/channels.h"
#include "heed/chat/marks.h"

namespace heed {
namespace {

using chat::partial_mark;

size_t leading_white_space(std::string_view text) {
  return std::min(text.find_first_not_of(kWhiteSpace), text.size());
}

size_t size_without_trailing_white_space(std::string_view text) {
  return text.find_last_not_of(kWhiteSpace) + 1;  // npos + 1 is 0
}

/// Nine letters and digits, which is what the templates of Mistral require.
std::string call_id(const CounterRandom& random, uint64_t call) {
  constexpr std::string_view kLetters =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  std::string id(9, ' ');
  for (size_t i = 0; i < id.size(); ++i)
    id[i] = kLetters[random.below(call * id.size() + i, kLetters.size())];
  return id;
}

}  // namespace

void ChatAnswer::add(const ChatAnswer& part) {
  content += part.content;
  reasoning_content += part.reasoning_content;
  tool_calls.insert(tool_calls.end(), part.tool_calls.begin(), part.tool_calls.end());
  malformed_tool_call |= part.malformed_tool_call;
}

/// `unread` holds what may still become part of a mark, or white space before one.
struct AnswerReader::State {
  State(AnswerFormat own_format, uint64_t id_seed)
      : format(std::move(own_format)), marks(chat::call_marks(format.tool_calls)), ids(id_seed) {
    if (format.begins_with_reasoning) mode = Mode::reasoning_start;
  }

  enum class Mode { start, reasoning_start, reasoning, content_start, content, call };

  /// Reads on in the present mode. Returns whether there may be more to read in the next one.
  bool advance(bool last);
  /// Reads all that is certain. Returns it.
  ChatAnswer read(bool last);
  bool read_start(bool last);
  bool skip_white_space(Mode next);
  bool read_reasoning(bool last);
  bool read_content(bool last);
  bool read_call(bool last);
  void add_calls(std::string_view text, std::string_view body);
  bool names_offered_tool(const std::vector<ToolCall>& calls) const;

  AnswerFormat format;
  chat::CallMarks marks;
  CounterRandom ids;
  Mode mode = Mode::start;
  std::string unread;
  std::string white_space;  // before a call: content only if the call is malformed
  chat::ChannelReader channels;
  uint64_t calls = 0;     // reported
  bool bare = false;      // a call of Llama without a mark, which may also be an answer in JSON
  bool answered = false;  // some content or a call has been reported
  ChatAnswer part;
};

bool AnswerReader::State::read_start(bool last) {
  const std::string_view rest = std::string_view(unread).substr(leading_white_space(unread));
  const std::string& begin = format.reasoning_begin;
  if (!begin.empty() && rest.starts_with(begin)) {
    unread = rest.substr(begin.size());
    mode = Mode::reasoning_start;
    return true;
  }
  if (!last && !begin.empty() && std::string_view(begin).starts_with(rest)) return false;
  mode = Mode::content;
  return true;
}

bool AnswerReader::State::skip_white_space(Mode next) {
  unread.erase(0, leading_white_space(unread));
  if (unread.empty()) return false;
  mode = next;
  return true;
}

bool AnswerReader::State::read_reasoning(bool last) {
  const size_t end = unread.find(format.reasoning_end);
  const bool ended = end != unread.npos;
  size_t certain =
      ended ? end : unread.size() - (last ? 0 : partial_mark(unread, format.reasoning_end));
  if (!last || ended)
    certain = size_without_trailing_white_space(std::string_view(unread).substr(0, certain));
  part.reasoning_content += unread.substr(0, certain);
  if (!ended) {
    unread.erase(0, certain);
    return false;
  }
  unread.erase(0, end + format.reasoning_end.size());
  mode = Mode::content_start;
  return true;
}

bool AnswerReader::State::read_content(bool last) {
  if (marks.begin.empty()) {
    part.content += std::exchange(unread, {});
    return false;
  }
  if (!answered && format.tool_calls == ToolCallFormat::llama) {
    const size_t first = leading_white_space(unread);
    if (first == unread.size() && !last) return false;
    bare = first < unread.size() && unread[first] == '{';
    if (bare) {
      mode = Mode::call;
      return true;
    }
  }
  const size_t begin = unread.find(marks.begin);
  const bool found = begin != unread.npos;
  const size_t end = found ? begin : unread.size() - (last ? 0 : partial_mark(unread, marks.begin));
  const size_t certain = size_without_trailing_white_space(std::string_view(unread).substr(0, end));
  if (certain > 0) answered = true;
  part.content += unread.substr(0, certain);
  if (found) {
    white_space = unread.substr(certain, begin - certain);
    unread.erase(0, begin);
    mode = Mode::call;
    return true;
  }
  unread.erase(0, certain);
  // White space between and after calls belongs to them.
  if (last && calls == 0 && part.tool_calls.empty()) part.content += unread;
  if (last) unread.clear();
  return false;
}

bool AnswerReader::State::names_offered_tool(const std::vector<ToolCall>& found) const {
  return std::ranges::all_of(found, [&](const ToolCall& call) {
    return std::ranges::find(format.tools, call.name, &OfferedTool::name) != format.tools.end();
  });
}

/// `text` is all of a call, with its marks; `body` stands between them.
void AnswerReader::State::add_calls(std::string_view text, std::string_view body) {
  auto found = chat::read_calls(format.tool_calls, body);
  answered = true;
  if (!found || (bare && !names_offered_tool(*found))) {
    part.malformed_tool_call |= !bare;
    part.content += white_space;
    part.content += text;
    return;
  }
  for (ToolCall& call : *found) part.tool_calls.push_back(std::move(call));
}

bool AnswerReader::State::read_call(bool last) {
  const std::string_view all = unread;
  const size_t begin = bare ? 0 : marks.begin.size();
  size_t end = all.npos;
  if (!marks.end.empty()) {
    // The end mark may also be a part of an argument.
    end = chat::find_outside_strings(all.substr(begin), marks.end);
    if (end != all.npos) end += begin;
  }
  if (end == all.npos && !last) return false;
  const size_t after = end == all.npos ? all.size() : end + marks.end.size();
  add_calls(all.substr(0, after), all.substr(begin, end == all.npos ? all.npos : end - begin));
  unread.erase(0, after);
  mode = Mode::content;
  return !unread.empty();
}

bool AnswerReader::State::advance(bool last) {
  switch (mode) {
    case Mode::start:
      return read_start(last);
    case Mode::reasoning_start:
      return skip_white_space(Mode::reasoning);
    case Mode::reasoning:
      return read_reasoning(last);
    case Mode::content_start:
      return skip_white_space(Mode::content);
    case Mode::content:
      return read_content(last);
    case Mode::call:
      return read_call(last);
  }
  return false;
}

ChatAnswer AnswerReader::State::read(bool last) {
  if (format.channels) {
    channels.read(unread, last, part);
  } else {
    while (advance(last)) {
    }
  }
  for (ToolCall& call : part.tool_calls) call.id = call_id(ids, calls++);
  return std::exchange(part, {});
}

AnswerReader::AnswerReader(AnswerFormat format, uint64_t id_seed)
    : state_(std::make_unique<State>(std::move(format), id_seed)) {}
AnswerReader::AnswerReader(AnswerReader&&) noexcept = default;
AnswerReader& AnswerReader::operator=(AnswerReader&&) noexcept = default;
AnswerReader::~AnswerReader() = default;

ChatAnswer AnswerReader::feed(std::string_view text) {
  state_->unread += text;
  return state_->read(false);
}

ChatAnswer AnswerReader::finish() { return state_->read(true); }

}  // namespace heed

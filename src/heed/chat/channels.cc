#include "heed/chat/channels.h"

#include <algorithm>

#include "heed/chat/call_syntax.h"
#include "heed/chat/marks.h"

namespace heed::chat {
namespace {

constexpr std::string_view kRecipient = "to=", kFunctions = "functions.";

std::string_view word(std::string_view text) {
  return text.substr(0, text.find_first_of(" \t\r\n<"));
}

/// What follows `mark` in a header, up to a space or the next mark; empty without it.
std::string_view word_after(std::string_view header, std::string_view mark) {
  const size_t at = header.rfind(mark);
  return at == header.npos ? std::string_view() : word(header.substr(at + mark.size()));
}

struct TextEnd {
  size_t begin, end;  // of the mark
};

/// The first mark that ends a text, in JSON one outside of strings; npos if there is none.
TextEnd text_end(std::string_view text, bool is_json) {
  TextEnd first{text.npos, text.npos};
  for (const std::string_view mark : kMessageEnds)
    if (const size_t at = is_json ? find_outside_strings(text, mark) : text.find(mark);
        at < first.begin)
      first = {at, at + mark.size()};
  return first;
}

/// Size of the longest end of `text` with which one of the marks begins.
size_t partial_end(std::string_view text) {
  size_t size = 0;
  for (const std::string_view mark : kMessageEnds) size = std::max(size, partial_mark(text, mark));
  return size;
}

/// Adds to a part of the answer, and notes that there is some of its kind.
void append(std::string& to, bool& has_some, std::string_view text) {
  if (text.empty()) return;
  to += text;
  has_some = true;
}

}  // namespace

bool has_channels(std::string_view source) {
  return source.find(kChannel) != source.npos && source.find(kMessage) != source.npos;
}

bool ChannelReader::read_header(std::string& unread, bool last, ChatAnswer& part) {
  const size_t end = unread.find(kMessage);
  if (end == unread.npos) {
    // A model that leaves out the headers answers all the same.
    if (last && unread.find("<|") == unread.npos) part.content += unread;
    if (last) unread.clear();
    return false;
  }
  const std::string_view header = std::string_view(unread).substr(0, end);
  std::string_view recipient = word_after(header, kRecipient);
  if (recipient.starts_with(kFunctions)) recipient.remove_prefix(kFunctions.size());
  recipient_ = recipient;
  const bool thinks = word_after(header, kChannel) == "analysis";
  mode_ = !recipient.empty() ? Mode::call : thinks ? Mode::reasoning : Mode::content;
  // A line end between messages of the same kind.
  if (mode_ == Mode::content && has_content_) part.content += '\n';
  if (mode_ == Mode::reasoning && has_reasoning_) part.reasoning_content += '\n';
  unread.erase(0, end + kMessage.size());
  return true;
}

bool ChannelReader::read_text(std::string& unread, bool last, ChatAnswer& part) {
  const TextEnd end = text_end(unread, mode_ == Mode::call);
  const bool ended = end.begin != unread.npos;
  if (mode_ == Mode::call) {
    if (!ended && !last) return false;
    const std::string text = unread.substr(0, end.begin);
    if (auto call = read_call(recipient_, text)) {
      part.tool_calls.push_back(std::move(*call));
    } else {
      part.malformed_tool_call = true;
      append(part.content, has_content_, text);
    }
  } else {
    const size_t certain = ended ? end.begin : unread.size() - (last ? 0 : partial_end(unread));
    const std::string_view text = std::string_view(unread).substr(0, certain);
    if (mode_ == Mode::reasoning)
      append(part.reasoning_content, has_reasoning_, text);
    else
      append(part.content, has_content_, text);
    if (!ended) {
      unread.erase(0, certain);
      return false;
    }
  }
  unread.erase(0, ended ? end.end : unread.size());
  mode_ = Mode::header;
  return !unread.empty();
}

void ChannelReader::read(std::string& unread, bool last, ChatAnswer& part) {
  while (mode_ == Mode::header ? read_header(unread, last, part) : read_text(unread, last, part)) {
  }
}

}  // namespace heed::chat

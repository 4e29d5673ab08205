#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "heed/chat.h"

namespace heed::chat {

/// Whether a chat template is for models that answer in channels (OpenAI's harmony format).
bool has_channels(std::string_view source);

// What stands around the parts of a message.
inline constexpr std::string_view kChannel = "<|channel|>", kMessage = "<|message|>",
                                  kMessageEnd = "<|end|>", kMessageStart = "<|start|>",
                                  kConstrain = "<|constrain|>";

/// The token that ends a call of a tool; it ends an answer, too.
inline constexpr std::string_view kChannelCallEnd = "<|call|>";
/// What ends the text of a message.
inline constexpr std::string_view kMessageEnds[] = {kMessageEnd, "<|return|>", kChannelCallEnd,
                                                    kMessageStart};

/// Reads an answer in channels, as gpt-oss writes it: messages of a header and a text, such as
///
///     <|channel|>analysis<|message|>A sum.<|end|><|start|>assistant<|channel|>final<|message|>4.
///
/// The text of the channel analysis is reasoning. A message with a recipient (to=functions.NAME,
/// before or after the channel) is a call of a tool; any other is content.
class ChannelReader {
 public:
  /// Takes from `unread` what is certain, or all if it is the `last` of the answer, and adds it to
  /// `part`. Calls have no ids.
  void read(std::string& unread, bool last, ChatAnswer& part);

 private:
  enum class Mode { header, reasoning, content, call };

  bool read_header(std::string& unread, bool last, ChatAnswer& part);
  bool read_text(std::string& unread, bool last, ChatAnswer& part);

  Mode mode_ = Mode::header;
  std::string recipient_;
  bool has_content_ = false, has_reasoning_ = false;  // an earlier message had some
};

}  // namespace heed::chat

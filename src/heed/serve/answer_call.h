#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heed/chat.h"
#include "heed/serve/generation_call.h"

namespace heed::serve {

/// A call with one answer, which is read as it is generated and written in the form of an API.
class AnswerCall : public GenerationCall {
 public:
  /// `messages` is the number of messages before the answer.
  AnswerCall(const ModelCall& call, const AnswerFormat& format, size_t messages)
      : GenerationCall(call), reader_(format, messages) {}

  /// Adds the request. Throws ApiError as start(); `param` names the field of the prompt.
  void ask(std::vector<int32_t> prompt, const GenerateOptions& options, const std::string& param);

 protected:
  // Called on the compute thread:
  /// The answer has grown by this part.
  virtual void on_part(const ChatAnswer& part) = 0;
  /// The answer is complete.
  virtual void on_answered() = 0;

  /// What there is of the answer.
  const ChatAnswer& answer() const { return answer_; }
  /// The tokens that were generated.
  int64_t output_tokens() const { return output_tokens_; }
  /// Why it has ended, and the stop string that ended it.
  FinishReason finish_reason() const { return finish_reason_; }
  const std::optional<std::string>& stop_string() const { return stop_string_; }

 private:
  void on_delta(size_t i, const Delta& delta) final;
  void on_end() final { on_answered(); }

  AnswerReader reader_;
  ChatAnswer answer_;
  int64_t output_tokens_ = 0;
  FinishReason finish_reason_ = FinishReason::length;
  std::optional<std::string> stop_string_;
};

}  // namespace heed::serve

#include "heed/chat.h"

#include "capi/generate.h"
#include "capi/model.h"
#include "capi/options.h"
#include "capi/outputs.h"
#include "heed/chat/chat_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_chat_options, ChatOptions, HEED_ANSWER_OPTIONS)

namespace {

/// Receives the parts of an answer, and keeps them in `so_far`. Throws StatusError when the
/// callback ends it.
Model::OnAnswer answer_function(heed_on_answer on_answer, void* user_data, ChatAnswer& so_far) {
  if (!on_answer) return {};
  return [on_answer, user_data, &so_far](const ChatAnswer& part) {
    so_far.add(part);
    const StoredAnswer stored_part(part);
    const heed_chat_answer view = stored_part.view();
    if (on_answer(user_data, &view) != 0) fail_cancelled();
  };
}

void set_result(heed_chat_result** result, ChatAnswer answer, Generation generation) {
  set_handle(result,
             std::shared_ptr<StoredChat>(new StoredChat{StoredAnswer(std::move(answer)),
                                                        StoredGeneration(std::move(generation))}));
}

std::string member_text(heed_string text, const char* name) {
  return text.size == 0 ? std::string() : std::string(text_of(text, name));
}

ChatMessage message_of(const heed_chat_message& message) {
  ChatMessage to{.role = std::string(text_of(message.role, "role")),
                 .content = member_text(message.content, "content"),
                 .reasoning_content = member_text(message.reasoning_content, "reasoning_content"),
                 .tool_call_id = member_text(message.tool_call_id, "tool_call_id"),
                 .name = member_text(message.name, "name")};
  if (message.tool_call_count > 0) require_pointer(message.tool_calls, "tool_calls");
  for (size_t i = 0; i < message.tool_call_count; ++i) {
    const heed_tool_call& call = message.tool_calls[i];
    to.tool_calls.push_back({.id = member_text(call.id, "id"),
                             .name = std::string(text_of(call.name, "name")),
                             .arguments = std::string(text_of(call.arguments, "arguments"))});
  }
  return to;
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_chat_options)

heed_status heed_chat(heed_model* model, heed_string messages, const heed_chat_options* options,
                      const heed_generate_options* generate, heed_on_answer on_answer,
                      void* user_data, heed_chat_result** result, heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    heed::ChatAnswer so_far;
    try {
      heed::ChatResult chat = loaded.chat(heed::read_chat_messages(text_of(messages, "messages")),
                                          generate_options(read_sized(generate, "generate")),
                                          options_of(read_sized(options)),
                                          answer_function(on_answer, user_data, so_far));
      set_result(result, std::move(chat.answer), std::move(chat.generation));
    } catch (const StatusError& error) {
      if (error.status() == HEED_ERROR_CANCELLED) set_result(result, std::move(so_far), {});
      throw;
    }
  });
}

heed_status heed_chat_messages(const heed_chat_message* messages, size_t count, char* buffer,
                               size_t capacity, size_t* size, heed_error* error) {
  return run(error, [&] {
    if (count > 0) require_pointer(messages, "messages");
    std::vector<heed::ChatMessage> list;
    for (size_t i = 0; i < count; ++i) list.push_back(message_of(messages[i]));
    copy_text_out(heed::write_chat_messages(list), buffer, capacity, size);
  });
}

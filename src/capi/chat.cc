#include "heed/chat.h"

#include "capi/generate.h"
#include "capi/model.h"
#include "capi/options.h"
#include "capi/outputs.h"
#include "heed/chat/chat_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_chat_options, ChatOptions, HEED_ANSWER_OPTIONS)

namespace {

/// Receives the parts of an answer. Throws StatusError when the callback ends it.
Model::OnAnswer answer_function(heed_on_answer on_answer, void* user_data) {
  if (!on_answer) return {};
  return [on_answer, user_data](const ChatAnswer& part) {
    const StoredAnswer stored_part(part);
    const heed_chat_answer view = stored_part.view();
    if (on_answer(user_data, &view) != 0) fail_cancelled();
  };
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
    heed::ChatResult chat =
        loaded.chat(heed::read_chat_messages(text_of(messages, "messages")),
                    generate_options(read_sized(generate, "generate")),
                    options_of(read_sized(options)), answer_function(on_answer, user_data));
    set_handle(result, std::shared_ptr<StoredChat>(
                           new StoredChat{StoredAnswer(std::move(chat.answer)),
                                          StoredGeneration(std::move(chat.generation))}));
  });
}

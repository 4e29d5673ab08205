#include "heed/chat_template.h"

#include "capi/options.h"
#include "capi/tokenizer.h"
#include "heed/chat/chat_options.h"

namespace heed::capi {

template <>
struct HandleOf<heed_chat_template> {
  using Object = ChatTemplate;
  static constexpr const char* kName = "chat template";
};

template <>
struct HandleOf<heed_chat_prompt_result> {
  using Object = ChatPrompt;
  static constexpr const char* kName = "result of heed_chat_template_prompt()";
};

HEED_C_OPTIONS(heed_chat_prompt_options, ChatOptions, HEED_CHAT_OPTIONS)

template <>
heed_chat_prompt defaults<heed_chat_prompt>() {
  return {};
}

namespace {

ChatPrompt earlier_prompt(const heed_chat_prompt* earlier) {
  if (!earlier) return {};
  const heed_chat_prompt from = read_sized(earlier, "earlier");
  const auto tokens = span_of(from.tokens, from.token_count, "earlier->tokens");
  ChatPrompt prompt;
  prompt.text = text_of(from.text, "earlier->text");
  prompt.tokens.assign(tokens.begin(), tokens.end());
  return prompt;
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_chat_prompt_options)

heed_status heed_chat_template_load(const char* path, heed_tokenizer* tokenizer,
                                    heed_chat_template** chat_template, heed_error* error) {
  return run(error, [&] {
    require_output(chat_template, "chat_template");
    require_pointer(path, "path");
    using heed::ChatTemplate;
    set_handle(chat_template, std::make_shared<ChatTemplate>(
                                  tokenizer ? ChatTemplate::load(path, tokenizer_of(tokenizer))
                                            : ChatTemplate::load(path)));
  });
}

heed_status heed_chat_template_parse(heed_string jinja, heed_tokenizer* tokenizer,
                                     heed_chat_template** chat_template, heed_error* error) {
  return run(error, [&] {
    require_output(chat_template, "chat_template");
    const heed::Tokenizer loaded = tokenizer_of(tokenizer);
    set_handle(chat_template, std::make_shared<heed::ChatTemplate>(heed::ChatTemplate::parse(
                                  std::string(text_of(jinja, "jinja")), loaded)));
  });
}

heed_status heed_chat_template_tokenizer(heed_chat_template* chat_template,
                                         heed_tokenizer** tokenizer, heed_error* error) {
  return run(error, [&] {
    require_output(tokenizer, "tokenizer");
    set_handle(tokenizer, std::make_shared<LoadedTokenizer>(object_of(chat_template)->tokenizer()));
  });
}

HEED_DEFINE_FREE(heed_chat_template)

heed_status heed_chat_template_prompt(heed_chat_template* chat_template, heed_string messages,
                                      const heed_chat_prompt_options* options,
                                      const heed_chat_prompt* earlier,
                                      heed_chat_prompt_result** result, heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const auto object = object_of(chat_template);
    set_handle(result, std::make_shared<heed::ChatPrompt>(object->prompt(
                           heed::read_chat_messages(text_of(messages, "messages")),
                           options_of(read_sized(options)), earlier_prompt(earlier))));
  });
}

heed_status heed_chat_prompt_result_get(heed_chat_prompt_result* result, heed_chat_prompt* prompt,
                                        heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    write_sized(prompt,
                {.struct_size = 0,
                 .text = string_of(object->text),
                 .tokens = object->tokens.data(),
                 .token_count = object->tokens.size(),
                 .end_tokens = object->end_tokens.data(),
                 .end_token_count = object->end_tokens.size()},
                "prompt");
  });
}

HEED_DEFINE_FREE(heed_chat_prompt_result)

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "call.h"
#include "heed/chat.h"
#include "heed/chat/chat_options.h"
#include "model.h"
#include "options.h"
#include "value_class.h"

namespace heed::python {
namespace {

/// `messages` is JSON.
MadePrompt chat_prompt(const OpenModel& open, nb::handle messages, const Options& options) {
  const Model model = open.get();
  const std::string json = text_from(messages, "messages");
  const auto chat_options = only_options<chat::ChatOption>(options, "chat_prompt");
  return run([&] {
    const std::vector<ChatMessage> read = read_chat_messages(json);
    return MadePrompt{model.chat_prompt(read, chat_options), read.size()};
  });
}

/// `messages` is JSON. The names of the options of a template and of decoding are distinct.
ChatResult chat(const OpenModel& open, nb::handle messages, const Options& options) {
  const Model model = open.get();
  const std::string json = text_from(messages, "messages");
  Keywords keywords(options);
  const auto chat_options = take_options<chat::ChatOption>(keywords);
  const GenerateOptions generate_options = take_generate_options(keywords);
  keywords.finish("chat");
  prepare_output(model, generate_options);
  return run([&] { return model.chat(read_chat_messages(json), generate_options, chat_options); });
}

/// The text of an answer, read as it is generated.
class Reader {
 public:
  explicit Reader(const MadePrompt& prompt) : reader_(prompt.prompt.answer, prompt.messages) {}
  ChatAnswer feed(nb::handle text) { return reader_.feed(text_from(text, "text")); }
  ChatAnswer finish() { return reader_.finish(); }

 private:
  AnswerReader reader_;
};

void bind_answer(nb::module_& m) {
  ValueClass<ToolCall>(m, "ToolCall", "A call of a function that a model asks for.")
      .field("id", &ToolCall::id, "chosen by heed; the message with the result repeats it")
      .field("name", &ToolCall::name, "of the function")
      .field("arguments", &ToolCall::arguments, "a JSON object")
      .finish();
  ValueClass<ChatAnswer>(m, "ChatAnswer", "An answer, or a part of one.")
      .field("content", &ChatAnswer::content, "the answer")
      .field("reasoning_content", &ChatAnswer::reasoning_content, "what was thought before it")
      .field("tool_calls", &ChatAnswer::tool_calls, "complete ones")
      .field("malformed_tool_call", &ChatAnswer::malformed_tool_call,
             "whether content holds a call that cannot be read")
      .finish()
      .def(nb::init<>())
      .def("add", &ChatAnswer::add, nb::arg("part"), "Appends a later part.")
      .def("__bool__", [](const ChatAnswer& one) { return !one.empty(); })
      .def("__str__", [](const ChatAnswer& one) { return one.content; });
  ValueClass<ChatResult>(m, "ChatResult", "An answer and how it was generated.")
      .field("answer", &ChatResult::answer, "what it says")
      .field("generation", &ChatResult::generation, "its tokens, and why it ended")
      .derived(
          "content", [](const ChatResult& one) { return one.answer.content; }, "that of the answer")
      .finish()
      .def("__str__", [](const ChatResult& one) { return one.answer.content; });
}

}  // namespace

void bind_chat(nb::module_& m, nb::class_<OpenModel>& model) {
  bind_answer(m);
  nb::class_<MadePrompt>(
      m, "ChatPrompt",
      "What a chat template makes of messages. Session.add() takes it for a prompt.")
      .def_prop_ro(
          "text", [](const MadePrompt& one) { return one.prompt.text; },
          "what the chat template gives")
      .def_prop_ro(
          "tokens", [](const MadePrompt& one) { return one.prompt.tokens; }, "of the text")
      .def_prop_ro(
          "end_tokens", [](const MadePrompt& one) { return one.prompt.end_tokens; },
          "end an answer, besides those of the model");
  nb::class_<Reader>(m, "AnswerReader")
      .def(nb::init<const MadePrompt&>(), nb::arg("prompt"))
      .def("feed", &Reader::feed, nb::arg("text"))
      .def("finish", &Reader::finish);
  model.def("chat", &chat, nb::arg("messages"), nb::arg("options"))
      .def("chat_prompt", &chat_prompt, nb::arg("messages"), nb::arg("options"));
}

}  // namespace heed::python

#include "options.h"

#include "call.h"
#include "heed/engine/engine_options.h"
#include "heed/engine/load_options.h"
#include "heed/generate/generate_options.h"
#include "model.h"

namespace heed::python {
namespace {

/// A path, or a dict of path, name and scale.
AdapterOptions adapter_from(nb::handle value, std::string_view name) {
  if (!nb::isinstance<nb::dict>(value)) return {.path = path_from(value, name)};
  return only_options<engine::AdapterOption>(nb::borrow<nb::dict>(value), "adapter");
}

/// The options of the dict `name`, if it is given.
template <typename Table>
typename Table::Options take_dict(Keywords& keywords, const char* name) {
  const nb::object value = keywords.take(name);
  if (!value) return {};
  if (!nb::isinstance<nb::dict>(value)) wrong_type(value, name, "a dict");
  return only_options<Table>(nb::borrow<nb::dict>(value), name);
}

/// Calls a Python function on the calling thread. Its exception ends the load.
std::function<void(const DownloadProgress&)> progress_to(nb::object function) {
  return [held = held_without_gil(std::move(function))](const DownloadProgress& now) {
    const nb::gil_scoped_acquire acquire;
    try {
      (*held)(nb::str(now.model.data(), now.model.size()), now.bytes, now.total_bytes, now.files,
              now.total_files, now.waiting);
    } catch (nb::python_error& error) {
      Interruption::current()->hold(std::move(error));
    }
  };
}

}  // namespace

HubOptions take_hub_options(Keywords& keywords) {
  return take_dict<engine::HubOption>(keywords, "hub");
}

void take_download_progress(Keywords& keywords, HubOptions& options) {
  if (nb::object function = keywords.take("on_progress"))
    options.on_progress = progress_to(std::move(function));
}

std::shared_ptr<Executor> take_executor(Keywords& keywords) {
  std::optional<int> threads;
  keywords.read("threads", threads);
  return threads ? make_executor(*threads) : nullptr;
}

std::vector<AdapterOptions> take_adapters(Keywords& keywords) {
  const nb::object adapters = keywords.take("adapters");
  return adapters ? list_from(adapters, "adapters", adapter_from) : std::vector<AdapterOptions>();
}

SearchOptions take_search_options(Keywords& keywords, const SearchOptions& defaults) {
  SearchOptions options = defaults;
  keywords.read("beam", options.num_beams);
  generate::SearchOption::for_each([&](const auto& option) {
    // That of a request is an option of generation.
    if (option.name != "max_new_tokens") keywords.read(option.key.data(), options.*option.field);
  });
  return options;
}

TranslateOptions take_translate_options(Keywords& keywords) {
  auto options = take_options<generate::TranslateOption>(keywords);
  options.search = take_search_options(keywords, options.search);
  keywords.read("max_new_tokens", options.search.max_new_tokens);
  if (const nb::object then = keywords.take("then")) {
    if (!nb::isinstance<OpenModel>(then)) wrong_type(then, "then", "a heed.Model");
    options.then = std::make_shared<const Model>(nb::cast<const OpenModel&>(then).get());
  }
  return options;
}

DocumentOptions take_document_options(Keywords& keywords) {
  auto options = take_options<generate::DocumentOption>(keywords);
  options.translate = take_translate_options(keywords);
  return options;
}

StructuredOutput take_structured_output(Keywords& keywords) {
  StructuredOutput output;
  keywords.read("schema", output.json_schema);
  keywords.read("white_space", output.json_white_space);
  keywords.read("complete", output.complete);
  keywords.read("free_log_probabilities", output.free_log_probabilities);
  keywords.read("regex", output.regex);
  std::string grammar;
  keywords.read("grammar", grammar);
  if (!grammar.empty()) generate::set_grammar(output, std::move(grammar));
  keywords.read("choice", output.choice);
  return output;
}

GenerateOptions take_generate_options(Keywords& keywords) {
  auto options = take_options<generate::GenerateOption>(keywords);
  options.structured_output = take_structured_output(keywords);
  return options;
}

void prepare_output(const Model& model, const GenerateOptions& options) {
  const auto ignored = run([&] { return model.prepare(options); });
  if (ignored.empty()) return;
  std::string text = "these keywords of the JSON Schema assert nothing: ";
  for (size_t i = 0; i < ignored.size(); ++i) text += (i > 0 ? ", " : "") + ignored[i];
  constexpr Py_ssize_t kCallerOfHeed = 2;
  if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), kCallerOfHeed) != 0) throw nb::python_error();
}

Request take_request(nb::handle prompt, Keywords& keywords) {
  auto request = take_options<engine::RequestOption>(keywords);
  const bool is_chat = nb::isinstance<MadePrompt>(prompt);
  if (!is_chat) request.prompt = prompt_from(prompt, "prompt");
  for (const char* const name : {"beam", "num_beams", "n_best", "length_penalty"})
    if (keywords.has(name)) request.search.emplace();
  if (request.search) request.search = take_search_options(keywords, *request.search);
  request.options = take_generate_options(keywords);
  if (is_chat) {
    const ChatPrompt& made = nb::cast<const MadePrompt&>(prompt).prompt;
    request.prompt = made.tokens;
    request.options = answer_options(made, request.options);
  }
  return request;
}

LoadOptions take_load_options(Keywords& keywords) {
  auto options = take_options<engine::LoadOption>(keywords);
  options.adapters = take_adapters(keywords);
  options.speculation = take_dict<engine::SpeculationOption>(keywords, "speculation");
  options.executor = take_executor(keywords);
  options.hub = take_hub_options(keywords);
  return options;
}

}  // namespace heed::python

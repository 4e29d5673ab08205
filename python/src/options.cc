#include "options.h"

#include "call.h"
#include "heed/engine/load_options.h"
#include "heed/generate/generate_options.h"

namespace heed::python {
namespace {

/// A path, or a dict of path, name and scale.
AdapterOptions adapter_from(nb::handle value, std::string_view name) {
  if (!nb::isinstance<nb::dict>(value)) return {.path = path_from(value, name)};
  Keywords keywords(nb::borrow<nb::dict>(value));
  AdapterOptions adapter;
  keywords.read("path", adapter.path);
  keywords.read("name", adapter.name);
  keywords.read("scale", adapter.scale);
  keywords.finish("adapter");
  return adapter;
}

nb::dict dict_from(const nb::object& value, std::string_view name) {
  if (!nb::isinstance<nb::dict>(value)) wrong_type(value, name, "a dict");
  return nb::borrow<nb::dict>(value);
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

SpeculationOptions take_speculation(Keywords& keywords) {
  SpeculationOptions options;
  if (const nb::object value = keywords.take("speculation")) {
    Keywords own(dict_from(value, "speculation"));
    own.read("ngram", options.ngram);
    own.read("draft", options.draft);
    own.read("draft_weights", options.draft_weights);
    own.finish("speculation");
  }
  return options;
}

}  // namespace

HubOptions take_hub_options(Keywords& keywords) {
  HubOptions options;
  if (const nb::object value = keywords.take("hub")) {
    Keywords of_hub(dict_from(value, "hub"));
    of_hub.read("endpoint", options.endpoint);
    of_hub.read("cache", options.cache);
    of_hub.read("token", options.token);
    of_hub.read("offline", options.offline);
    of_hub.finish("hub");
  }
  return options;
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

GenerateOptions take_generate_options(Keywords& keywords) {
  GenerateOptions options;
  generate::for_each_generate_option(
      [&](const auto& option) { keywords.read(option.name.data(), options.*option.field); });
  return options;
}

SearchOptions take_search_options(Keywords& keywords, const SearchOptions& defaults) {
  SearchOptions options = defaults;
  keywords.read("beam", options.num_beams);
  generate::for_each_search_option([&](const auto& option) {
    // That of a request is an option of generation.
    if (option.name != "max_new_tokens") keywords.read(option.name.data(), options.*option.field);
  });
  return options;
}

TranslateOptions take_translate_options(Keywords& keywords) {
  TranslateOptions options;
  options.search = take_search_options(keywords, options.search);
  keywords.read("max_new_tokens", options.search.max_new_tokens);
  keywords.read("source_language", options.source_language);
  keywords.read("target_language", options.target_language);
  keywords.read("alignments", options.alignments);
  keywords.read("batch_tokens", options.batch_tokens);
  return options;
}

EmbedOptions take_embed_options(Keywords& keywords) {
  EmbedOptions options;
  keywords.read("pooling", options.pooling);
  keywords.read("normalize", options.normalize);
  keywords.read("max_seq_length", options.max_seq_length);
  keywords.read("batch_tokens", options.batch_tokens);
  return options;
}

ClassifyOptions take_classify_options(Keywords& keywords) {
  ClassifyOptions options;
  keywords.read("max_seq_length", options.max_seq_length);
  keywords.read("batch_tokens", options.batch_tokens);
  return options;
}

ScoreOptions take_score_options(Keywords& keywords) {
  ScoreOptions options;
  keywords.read("window", options.window);
  keywords.read("stride", options.stride);
  return options;
}

AttentionOptions take_attention_options(Keywords& keywords) {
  AttentionOptions options;
  keywords.read("target", options.target);
  keywords.read("source_language", options.source_language);
  keywords.read("target_language", options.target_language);
  keywords.read("kind", options.kind);
  keywords.read("layer", options.layer);
  keywords.read("head", options.head);
  keywords.read("max_weights", options.max_weights);
  return options;
}

ChatOptions take_chat_options(Keywords& keywords) {
  ChatOptions options;
  keywords.read("tools", options.tools);
  keywords.read("chat_template_kwargs", options.chat_template_kwargs);
  keywords.read("add_generation_prompt", options.add_generation_prompt);
  keywords.read("control_tokens_in_messages", options.control_tokens_in_messages);
  keywords.read("chat_template", options.chat_template);
  return options;
}

SessionOptions take_session_options(Keywords& keywords) {
  SessionOptions options;
  keywords.read("max_active_tokens", options.max_active_tokens);
  keywords.read("max_active_requests", options.max_active_requests);
  keywords.read("max_prefill_tokens", options.max_prefill_tokens);
  keywords.read("balance_prefill", options.balance_prefill);
  keywords.read("max_cached_tokens", options.max_cached_tokens);
  keywords.read("reserved_tokens", options.reserved_tokens);
  return options;
}

Request take_request(nb::handle prompt, Keywords& keywords) {
  Request request;
  request.prompt = prompt_from(prompt, "prompt");
  for (const char* const name : {"beam", "num_beams", "n_best", "length_penalty"})
    if (keywords.has(name)) request.search.emplace();
  if (request.search) request.search = take_search_options(keywords, *request.search);
  request.options = take_generate_options(keywords);
  keywords.read("source_language", request.source_language);
  keywords.read("target_language", request.target_language);
  keywords.read("alignments", request.alignments);
  keywords.read("adapters", request.adapters);
  keywords.read("number", request.number);
  return request;
}

LoadOptions take_load_options(Keywords& keywords) {
  LoadOptions options;
  engine::for_each_load_option(
      [&](const auto& option) { keywords.read(option.name.data(), options.*option.field); });
  options.adapters = take_adapters(keywords);
  options.speculation = take_speculation(keywords);
  options.executor = take_executor(keywords);
  options.hub = take_hub_options(keywords);
  return options;
}

}  // namespace heed::python

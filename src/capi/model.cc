#include "capi/model.h"

#include "capi/options.h"
#include "heed/engine/load_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_hub_options, HubOptions, HEED_HUB_OPTIONS)
HEED_C_MEMBERS(heed_adapter, AdapterOptions, HEED_ADAPTER_OPTIONS)
HEED_C_MEMBERS(heed_load_options, LoadOptions, HEED_LOAD_OPTIONS)

template <>
heed_load_options defaults<heed_load_options>() {
  heed_load_options options{};
  write_options(LoadOptions(), options);
  options.draft_weights = HEED_DEFAULT;
  return options;
}

HubCall::HubCall(const heed_hub_options* given) {
  const heed_hub_options from = read_sized(given, "hub");
  read_options(from, options_);
  if (!from.on_download) return;
  options_.on_progress = [from, cancelled = cancelled_](const DownloadProgress& progress) {
    const heed_download download{.struct_size = sizeof(heed_download),
                                 .model = string_of(progress.model),
                                 .bytes = progress.bytes,
                                 .total_bytes = progress.total_bytes,
                                 .files = progress.files,
                                 .total_files = progress.total_files,
                                 .waiting = progress.waiting};
    if (from.on_download(from.user_data, &download) != 0) *cancelled = true;
  };
  options_.cancelled = [cancelled = cancelled_] { return *cancelled; };
}

namespace {

std::vector<AdapterOptions> adapters_of(const heed_load_options& from) {
  std::vector<AdapterOptions> adapters;
  for (const heed_adapter& adapter : span_of(from.adapters, from.adapter_count, "adapters")) {
    require_pointer(adapter.path, "the path of an adapter");
    read_options(adapter, adapters.emplace_back());
  }
  return adapters;
}

LoadOptions load_options(const heed_load_options& from, const HubCall& hub) {
  LoadOptions options;
  read_options(from, options);
  if (!from.has_random_weights) options.random_weights.reset();
  options.adapters = adapters_of(from);
  options.speculation.ngram = from.speculate_ngram != 0;
  from_c(from.draft, options.speculation.draft, "draft");
  from_c(from.draft_weights, options.speculation.draft_weights, "draft_weights");
  options.executor = executor_of(from.executor);
  options.hub = hub.options();
  return options;
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_hub_options)

HEED_DEFINE_INIT(heed_load_options)

heed_status heed_model_load(const char* path, const heed_load_options* options, heed_model** model,
                            heed_error* error) {
  return run(error, [&] {
    require_output(model, "model");
    require_pointer(path, "path");
    const heed_load_options from = read_sized(options);
    const HubCall hub(from.hub);
    const heed::LoadOptions how = load_options(from, hub);
    heed::Model loaded = hub.run([&] { return heed::Model::load(path, how); });
    std::string family = loaded.family(), gpu = loaded.gpu();
    set_handle(model,
               std::make_shared<LoadedModel>(std::move(loaded), std::move(family), std::move(gpu)));
  });
}

HEED_DEFINE_FREE(heed_model)

heed_status heed_model_get_facts(heed_model* model, heed_model_facts* facts, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(model);
    const heed::Model& loaded = object->model;
    write_sized(facts,
                {.struct_size = 0,
                 .family = string_of(object->family),
                 .has_encoder = loaded.has_encoder(),
                 .has_decoder = loaded.has_decoder(),
                 .has_tokenizer = loaded.has_tokenizer(),
                 .has_chat_template = loaded.has_chat_template(),
                 .context_length = loaded.context_length(),
                 .vocab_size = loaded.vocab_size(),
                 .embedding_size = loaded.embedding_size(),
                 .gpu = string_of(object->gpu)},
                "facts");
  });
}

heed_status heed_model_eos_ids(heed_model* model, int32_t* tokens, size_t capacity, size_t* count,
                               heed_error* error) {
  return run(error, [&] {
    const std::vector<int32_t> ids = model_of(model).eos_ids();
    copy_out<int32_t>(ids, tokens, capacity, count);
  });
}

heed_status heed_model_warnings(heed_model* model, char* text, size_t capacity, size_t* size,
                                heed_error* error) {
  return run(error,
             [&] { copy_text_out(lines_of(model_of(model).warnings()), text, capacity, size); });
}

heed_status heed_tokenize(heed_model* model, heed_string text, int32_t special, int32_t* tokens,
                          size_t capacity, size_t* count, heed_error* error) {
  return run(error, [&] {
    const std::vector<int32_t> ids = model_of(model).tokenize(text_of(text, "text"), special != 0);
    copy_out<int32_t>(ids, tokens, capacity, count);
  });
}

heed_status heed_detokenize(heed_model* model, const int32_t* tokens, size_t count,
                            int32_t skip_special, char* text, size_t capacity, size_t* size,
                            heed_error* error) {
  return run(error, [&] {
    const heed::Model loaded = model_of(model);
    copy_text_out(loaded.detokenize(span_of(tokens, count, "tokens"), skip_special != 0), text,
                  capacity, size);
  });
}

heed_status heed_token_text(heed_model* model, int32_t token, char* text, size_t capacity,
                            size_t* size, heed_error* error) {
  return run(error,
             [&] { copy_text_out(model_of(model).token_text(token), text, capacity, size); });
}

heed_status heed_token_bytes(heed_model* model, int32_t token, char* bytes, size_t capacity,
                             size_t* size, heed_error* error) {
  return run(error,
             [&] { copy_text_out(model_of(model).token_bytes(token), bytes, capacity, size); });
}

#include "capi/model.h"
#include "capi/options.h"
#include "heed/c_read.h"
#include "heed/tasks/task_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_classify_options, ClassifyOptions, HEED_CLASSIFY_OPTIONS)

template <>
struct HandleOf<heed_classify_result> {
  using Object = std::vector<std::vector<LabelScore>>;
  static constexpr const char* kName = "result of heed_classify()";
};

template <>
struct HandleOf<heed_label_result> {
  using Object = std::vector<LabelledText>;
  static constexpr const char* kName = "result of heed_label_tokens()";
};

namespace {

std::vector<ClassifyInput> inputs_of(const heed_text_pair* texts, size_t count) {
  std::vector<ClassifyInput> inputs;
  for (const heed_text_pair& pair : span_of(texts, count, "texts")) {
    std::string first(text_of(pair.first, "a text"));
    if (pair.second.data)
      inputs.push_back(
          TextPair{std::move(first), std::string(text_of(pair.second, "a second text"))});
    else
      inputs.push_back(std::move(first));
  }
  return inputs;
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_classify_options)

heed_status heed_classify(heed_model* model, const heed_text_pair* texts, size_t count,
                          const heed_classify_options* options, heed_classify_result** result,
                          heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    const heed_classify_options from = read_sized(options);
    using Labels = std::vector<std::vector<heed::LabelScore>>;
    set_handle(result, std::make_shared<Labels>(loaded.classify_batch(
                           inputs_of(texts, count), options_of(from), from.first_number)));
  });
}

HEED_DEFINE_COUNT(heed_classify_result)

heed_status heed_classify_result_labels(heed_classify_result* result, size_t text, size_t* count,
                                        heed_error* error) {
  return run(error, [&] {
    write_value(count, element(*object_of(result), text, "text").size(), "count");
  });
}

heed_status heed_classify_result_get(heed_classify_result* result, size_t text, size_t index,
                                     heed_label_score* label, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    const heed::LabelScore& found = element(element(*object, text, "text"), index);
    write_sized(label, {.struct_size = 0, .label = string_of(found.label), .score = found.score},
                "label");
  });
}

HEED_DEFINE_FREE(heed_classify_result)

heed_status heed_rerank(heed_model* model, heed_string query, const heed_string* documents,
                        size_t count, const heed_classify_options* options,
                        heed_ranked_document* ranking, heed_error* error) {
  return run(error, [&] {
    const heed::Model loaded = model_of(model);
    const std::vector<std::string> texts = texts_of(documents, count, "documents");
    require_argument(ranking != nullptr || texts.empty(), "ranking is NULL");
    for (const heed::RankedDocument& document : loaded.rerank(
             std::string(text_of(query, "query")), texts, options_of(read_sized(options))))
      *ranking++ = {.index = document.index, .score = document.score};
  });
}

heed_status heed_label_tokens(heed_model* model, const heed_string* texts, size_t count,
                              const heed_classify_options* options, heed_label_result** result,
                              heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    const heed_classify_options from = read_sized(options);
    set_handle(result, std::make_shared<std::vector<heed::LabelledText>>(loaded.label_tokens_batch(
                           texts_of(texts, count, "texts"), options_of(from), from.first_number)));
  });
}

HEED_DEFINE_COUNT(heed_label_result)

heed_status heed_label_result_get(heed_label_result* result, size_t text,
                                  heed_labelled_text* labelled, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    const heed::LabelledText& found = element(*object, text, "text");
    write_sized(labelled,
                {.struct_size = 0,
                 .tokens = found.tokens.data(),
                 .token_count = found.tokens.size(),
                 .entity_count = found.entities.size()},
                "labelled");
  });
}

heed_status heed_label_result_entity(heed_label_result* result, size_t text, size_t index,
                                     heed_entity* entity, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    const heed::Entity& found = element(element(*object, text, "text").entities, index);
    write_sized(entity,
                {.struct_size = 0,
                 .label = string_of(found.label),
                 .text = string_of(found.text),
                 .score = found.score,
                 .first_token = found.first_token,
                 .end_token = found.end_token,
                 .start = found.start,
                 .end = found.end},
                "entity");
  });
}

HEED_DEFINE_FREE(heed_label_result)

#include <span>

#include "capi/model.h"
#include "capi/options.h"
#include "heed/c_read.h"
#include "heed/tasks/task_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_embed_options, EmbedOptions, HEED_EMBED_OPTIONS)

template <>
struct HandleOf<heed_sparse_result> {
  using Object = std::vector<SparseEmbedding>;
  static constexpr const char* kName = "result of heed_embed_sparse()";
};

template <>
struct HandleOf<heed_multi_vector_result> {
  using Object = std::vector<MultiVectorEmbedding>;
  static constexpr const char* kName = "result of heed_embed_multi_vector()";
};

namespace {

/// [rows, cols] of a buffer. Throws StatusError unless it fits.
std::span<float> rows_in(float* vectors, size_t capacity, size_t rows, int64_t cols) {
  const size_t needed = rows * static_cast<size_t>(cols);
  if (capacity < needed)
    throw StatusError(
        HEED_ERROR_BUFFER_TOO_SMALL,
        fmt::format("the buffer has room for {} floats, needed are {} x {}", capacity, rows, cols));
  require_argument(vectors != nullptr || needed == 0, "vectors is NULL");
  return {vectors, needed};
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_embed_options)

heed_status heed_embed(heed_model* model, const heed_string* texts, size_t count,
                       const heed_embed_options* options, float* vectors, size_t capacity,
                       heed_error* error) {
  return run(error, [&] {
    const heed::Model loaded = model_of(model);
    const std::vector<std::string> inputs = texts_of(texts, count, "texts");
    const heed_embed_options from = read_sized(options);
    const heed::EmbedOptions embed = options_of(from);
    const std::span rows = rows_in(vectors, capacity, inputs.size(), loaded.embedding_size(embed));
    loaded.embed_batch(inputs, rows, embed, from.first_number);
  });
}

heed_status heed_embed_sparse(heed_model* model, const heed_string* texts, size_t count,
                              const heed_embed_options* options, heed_sparse_result** result,
                              heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed_embed_options from = read_sized(options);
    set_handle(result,
               std::make_shared<std::vector<heed::SparseEmbedding>>(model_of(model).embed_sparse(
                   texts_of(texts, count, "texts"), options_of(from), from.first_number)));
  });
}

HEED_DEFINE_COUNT(heed_sparse_result)

heed_status heed_sparse_result_get(heed_sparse_result* result, size_t text,
                                   heed_sparse_embedding* embedding, heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    const heed::SparseEmbedding& found = element(*object, text, "text");
    write_sized(embedding,
                {.struct_size = 0,
                 .indices = found.indices.data(),
                 .values = found.values.data(),
                 .count = found.indices.size()},
                "embedding");
  });
}

HEED_DEFINE_FREE(heed_sparse_result)

heed_status heed_embed_multi_vector(heed_model* model, const heed_string* texts, size_t count,
                                    const heed_embed_options* options,
                                    heed_multi_vector_result** result, heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed_embed_options from = read_sized(options);
    set_handle(result,
               std::make_shared<std::vector<heed::MultiVectorEmbedding>>(
                   model_of(model).embed_multi_vector(texts_of(texts, count, "texts"),
                                                      options_of(from), from.first_number)));
  });
}

HEED_DEFINE_COUNT(heed_multi_vector_result)

heed_status heed_multi_vector_result_get(heed_multi_vector_result* result, size_t text,
                                         heed_multi_vector_embedding* embedding,
                                         heed_error* error) {
  return run(error, [&] {
    const auto object = object_of(result);
    const heed::MultiVectorEmbedding& found = element(*object, text, "text");
    write_sized(embedding,
                {.struct_size = 0,
                 .tokens = found.tokens.data(),
                 .token_count = found.tokens.size(),
                 .values = found.values.data(),
                 .dimension = found.dimension},
                "embedding");
  });
}

HEED_DEFINE_FREE(heed_multi_vector_result)

heed_status heed_max_sim(heed_multi_vector_result* queries, size_t query,
                         heed_multi_vector_result* documents, size_t document, double* score,
                         heed_error* error) {
  return run(error, [&] {
    const auto first = object_of(queries), second = object_of(documents);
    write_value(
        score,
        heed::max_sim(element(*first, query, "query"), element(*second, document, "document")),
        "score");
  });
}

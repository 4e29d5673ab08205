#include <span>

#include "capi/model.h"
#include "capi/options.h"
#include "heed/c_read.h"
#include "heed/tasks/task_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_embed_options, EmbedOptions, HEED_EMBED_OPTIONS)

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

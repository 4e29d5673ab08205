#include <span>

#include "capi/model.h"
#include "capi/sized.h"
#include "heed/c_read.h"

namespace heed::capi {

template <>
heed_embed_options defaults<heed_embed_options>() {
  heed_embed_options options{};
  options.pooling = options.normalize = HEED_DEFAULT;
  options.max_seq_length = HEED_DEFAULT;
  options.batch_tokens = EmbedOptions().batch_tokens;
  options.first_number = 1;
  return options;
}

namespace {

EmbedOptions embed_options(const heed_embed_options& from) {
  EmbedOptions options;
  options.pooling = choice(from.pooling, Pooling::last, "pooling");
  if (from.normalize != HEED_DEFAULT) options.normalize = from.normalize != 0;
  options.max_seq_length = number(from.max_seq_length);
  options.batch_tokens = from.batch_tokens;
  return options;
}

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
    const std::span rows = rows_in(vectors, capacity, inputs.size(), loaded.embedding_size());
    const heed_embed_options from = read_sized(options);
    loaded.embed_batch(inputs, rows, embed_options(from), from.first_number);
  });
}

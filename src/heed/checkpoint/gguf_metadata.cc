#include "heed/checkpoint/gguf_metadata.h"

#include "heed/base/error.h"

namespace heed::checkpoint {

int64_t vocabulary_size(const io::GgufFile& file) {
  const Shape& shape = file.entry("token_embd.weight").shape;
  require(shape.rank() == 2, "{}: token_embd.weight is {}, expected a matrix", file.name(),
          shape.text());
  return shape[0];
}

int64_t layers(const ArchitectureMetadata& metadata) {
  const auto count = metadata.get<int64_t>("block_count");
  const auto tensors = static_cast<int64_t>(metadata.file().names().size());
  require(count > 0 && count <= tensors,
          "{}: block_count is {}, expected 1 to {}, the number of tensors", metadata.file().name(),
          count, tensors);
  return count;
}

nlohmann::json token(const io::GgufFile& file, const std::string& which) {
  const std::string key = "tokenizer.ggml." + which + "_token_id";
  return file.metadata().contains(key) ? nlohmann::json(file.metadata().get<int64_t>(key))
                                       : nlohmann::json();
}

}  // namespace heed::checkpoint

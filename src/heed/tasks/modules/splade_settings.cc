#include "heed/tasks/modules/splade_settings.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {

SpladeSettings read_splade_settings(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  const std::string file = path.string();
  const nlohmann::json json = read_object(path);
  // chunk_size is about memory; the width is that of the vocabulary.
  require_known(json, file,
                {"pooling_strategy", "activation_function", "embedding_dimension",
                 "word_embedding_dimension", "chunk_size"});
  const auto pooling = get_or<std::string>(json, "pooling_strategy", "max", file);
  require(pooling == "max" || pooling == "sum", "{}: pooling_strategy is {}, expected max or sum",
          file, quoted(pooling));
  const auto activation = get_or<std::string>(json, "activation_function", "relu", file);
  require(activation == "relu" || activation == "log1p_relu",
          "{}: activation_function is {}, expected relu or log1p_relu", file, quoted(activation));
  return {pooling == "sum", activation == "log1p_relu"};
}

}  // namespace heed::tasks

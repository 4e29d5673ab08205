#include "heed/train/checkpoints/initial_weights.h"

#include "heed/base/error.h"
#include "heed/train/checkpoints/word_vector_embeddings.h"

namespace heed::train {

void read_initial_config(TrainConfig& config) {
  const bool file = std::filesystem::is_regular_file(config.from);
  require(
      !file || config.lora.enabled,
      "{} is a file, expected a model directory to start from (a GGUF file can have an adapter: "
      "--lora)",
      config.from);
  config.model = checkpoint::build_model(config.from)->config();
  if (file) return;
  if (config.lora.enabled)
    checkpoint::open_directory_tensors(config.from);
  else
    io::open_model_tensors(config.from);
}

void check_initial_weights(const TrainConfig& config) {
  const std::string& file = config.vocabulary.word_vectors;
  if (!file.empty()) check_word_vectors(file, config.model.d_model);
}

void load_initial_weights(const TrainConfig& config, const Task& task, model::Transformer& model,
                          Observer& observer) {
  for (const std::string& warning : config.model.warnings) observer.log("warning: " + warning);
  if (!config.from.empty())
    checkpoint::load_weights(model, model::family_for(model.config()),
                             *io::open_model_tensors(config.from));
  const std::string& file = config.vocabulary.word_vectors;
  if (file.empty()) return;
  const int64_t found = init_from_word_vectors(
      model, [&task](int32_t token) { return task.piece(token); }, file);
  observer.log(
      fmt::format("word vectors: {} of {} pieces found", found, model.config().vocab_size));
}

}  // namespace heed::train

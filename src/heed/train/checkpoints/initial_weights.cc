#include "heed/train/checkpoints/initial_weights.h"

#include <cmath>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/io/word_vectors.h"

namespace heed::train {
namespace {

std::string word_of(const std::string& piece) {
  constexpr std::string_view kSpace = "\u2581";
  return piece.starts_with(kSpace) ? piece.substr(kSpace.size()) : piece;
}

double mean_square(const io::WordVectors& vectors) {
  double sum = 0;
  for (const auto& [word, row] : vectors.rows)
    for (const float x : row) sum += static_cast<double>(x) * static_cast<double>(x);
  return sum / static_cast<double>(vectors.rows.size() * static_cast<size_t>(vectors.dimension));
}

void check_dimension(const io::WordVectors& vectors, int64_t d_model,
                     const std::filesystem::path& file) {
  require(vectors.dimension == d_model, "{}: the vectors have {} dimensions, d_model is {}",
          file.string(), vectors.dimension, d_model);
}

/// Initialises the embedding rows of all tokens that have a vector in the word2vec file (text or
/// binary); a token is looked up as its piece without the space mark. All vectors are multiplied by
/// one factor, which gives their elements the standard deviation of the random rows. Returns the
/// number of rows set. Throws Error when the vectors do not have d_model dimensions, or when no
/// piece has a vector.
int64_t init_from_word_vectors(model::Transformer& model, const Task& task,
                               const std::filesystem::path& file) {
  const int64_t d_model = model.config().d_model;
  std::unordered_set<std::string> wanted;
  for (int32_t token = 0; token < model.config().vocab_size; ++token)
    wanted.insert(word_of(task.piece(token)));
  const io::WordVectors vectors = io::read_word_vectors(file, wanted);
  check_dimension(vectors, d_model, file);
  require(!vectors.rows.empty(), "{} has no vector for any piece of the vocabulary", file.string());

  const double deviation = 1.0 / std::sqrt(static_cast<double>(d_model));
  const auto scale = static_cast<float>(deviation / std::sqrt(mean_square(vectors) + 1e-30));
  Tensor& table = model.parameters().named("model.shared.weight").value;
  int64_t found = 0;
  for (int32_t token = 0; token < model.config().vocab_size; ++token) {
    const auto entry = vectors.rows.find(word_of(task.piece(token)));
    if (entry == vectors.rows.end()) continue;
    ++found;
    for (int64_t i = 0; i < d_model; ++i)
      table.data<float>()[token * d_model + i] = scale * entry->second[static_cast<size_t>(i)];
  }
  return found;
}

}  // namespace

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
  if (!file.empty()) check_dimension(io::read_word_vectors(file, {}), config.model.d_model, file);
}

void load_initial_weights(const TrainConfig& config, const Task& task, model::Transformer& model,
                          Observer& observer) {
  for (const std::string& warning : config.model.warnings) observer.log("warning: " + warning);
  if (!config.from.empty())
    checkpoint::load_weights(model, model::family_for(model.config()),
                             *io::open_model_tensors(config.from));
  const std::string& file = config.vocabulary.word_vectors;
  if (file.empty()) return;
  const int64_t found = init_from_word_vectors(model, task, file);
  observer.log(
      fmt::format("word vectors: {} of {} pieces found", found, model.config().vocab_size));
}

}  // namespace heed::train

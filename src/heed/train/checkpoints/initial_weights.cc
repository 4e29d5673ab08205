#include "heed/train/checkpoints/initial_weights.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/parallel.h"
#include "heed/io/word_vectors.h"
#include "heed/kernels/as_f32.h"
#include "heed/train/checkpoints/dense_modules.h"

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

/// The name of a parameter in files of a family, without the prefix that some of them have.
std::string file_name(const Parameter& parameter, const model::ModelConfig& config) {
  const model::Family& family = model::family_for(config);
  const std::string name = family.stored(config, parameter.name, parameter.shape).name;
  return name.starts_with(family.prefix) ? name.substr(family.prefix.size()) : name;
}

/// Sets the weights that a model has in common with the one at `from`, whose head may be another:
/// those of the same name, here or in files (BERT's pooler is a part of its classifier), and shape.
/// Returns the names of the others.
std::vector<std::string> load_common_weights(const std::filesystem::path& from,
                                             std::span<const DenseModule> modules,
                                             model::Transformer& model) {
  const auto stored = checkpoint::load_model(from);
  const model::ClassifierConfig& old = stored->config().classifier;
  const bool same_labels = old.labels == model.config().classifier.labels;
  std::unordered_map<std::string, const Parameter*> known;
  for (const Parameter& parameter : stored->parameters().all()) {
    if (parameter.role == WeightRole::head && !same_labels) continue;
    known.emplace(file_name(parameter, stored->config()), &parameter);
    known.insert_or_assign(parameter.name, &parameter);
  }
  std::vector<std::string> fresh;
  for (const DenseModule& module : modules)
    if (module.start.empty()) fresh.push_back(module.folder);
  load_dense_modules(modules, model);
  for (Parameter& parameter : model.parameters().all()) {
    if (parameter.role == WeightRole::dense_module) continue;
    auto found = known.find(parameter.name);
    if (found == known.end()) found = known.find(file_name(parameter, model.config()));
    if (found != known.end() && found->second->shape == parameter.shape)
      parameter.value = found->second->value;
    else
      fresh.push_back(parameter.name);
  }
  return fresh;
}

constexpr int64_t kBlockBytes = int64_t{1} << 20;

std::vector<std::string_view> blocks_of(const std::vector<const Parameter*>& parameters) {
  std::vector<std::string_view> blocks;
  for (const Parameter* const parameter : parameters) {
    const auto* bytes = reinterpret_cast<const char*>(parameter->value.raw());
    for (int64_t begin = 0; begin < parameter->value.bytes(); begin += kBlockBytes) {
      const int64_t size = std::min(kBlockBytes, parameter->value.bytes() - begin);
      blocks.emplace_back(bytes + begin, static_cast<size_t>(size));
    }
  }
  return blocks;
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
  if (!config.from.empty() &&
      (gives_labels(config.run.task) || config.run.task == TaskKind::embed)) {
    const std::vector<std::string> fresh =
        load_common_weights(config.from, task.dense_modules(), model);
    if (!fresh.empty()) observer.log(fmt::format("new weights: {}", fmt::join(fresh, ", ")));
  } else if (!config.from.empty()) {
    checkpoint::load_weights(model, model::family_for(model.config()),
                             *io::open_model_tensors(config.from));
  }
  const std::string& file = config.vocabulary.word_vectors;
  if (file.empty()) return;
  const int64_t found = init_from_word_vectors(model, task, file);
  observer.log(
      fmt::format("word vectors: {} of {} pieces found", found, model.config().vocab_size));
}

data::Fingerprint fingerprint_of(const model::Transformer& base) {
  std::vector<const Parameter*> present;
  for (const Parameter& parameter : base.parameters().all())
    if (parameter.present()) present.push_back(&parameter);
  const std::vector<std::string_view> blocks = blocks_of(present);
  std::vector<uint64_t> hashes(blocks.size());
  parallel_for(static_cast<int64_t>(blocks.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      hashes[i] = data::hash_after(0, blocks[i]);
  });
  data::Fingerprint result{.count = static_cast<int64_t>(present.size())};
  for (const Parameter* const parameter : present)
    result.hash = data::hash_after(
        result.hash, fmt::format("{} {} {}", parameter->name, name_of(parameter->value.dtype()),
                                 parameter->value.shape().text()));
  result.hash = data::hash_after(result.hash, {reinterpret_cast<const char*>(hashes.data()),
                                               hashes.size() * sizeof(hashes[0])});
  return result;
}

void require_same_base(const data::Fingerprint& began, const data::Fingerprint& now,
                       const std::string& path) {
  require(began == now,
          "{}: the base model has changed since the run began: {} parameters then, {} now{}; the "
          "adapter fits only the model that it was trained for",
          path, began.count, now.count,
          began.count == now.count ? " with other types or values" : "");
}

}  // namespace heed::train

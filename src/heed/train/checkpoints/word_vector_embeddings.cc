#include "heed/train/checkpoints/word_vector_embeddings.h"

#include <cmath>
#include <string>
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

}  // namespace

void check_word_vectors(const std::filesystem::path& file, int64_t d_model) {
  check_dimension(io::read_word_vectors(file, {}), d_model, file);
}

int64_t init_from_word_vectors(model::Transformer& model,
                               const std::function<std::string(int32_t)>& piece,
                               const std::filesystem::path& file) {
  const int64_t d_model = model.config().d_model;
  std::unordered_set<std::string> wanted;
  for (int32_t token = 0; token < model.config().vocab_size; ++token)
    wanted.insert(word_of(piece(token)));
  const io::WordVectors vectors = io::read_word_vectors(file, wanted);
  check_dimension(vectors, d_model, file);
  require(!vectors.rows.empty(), "{} has no vector for any piece of the vocabulary", file.string());

  const double deviation = 1.0 / std::sqrt(static_cast<double>(d_model));
  const auto scale = static_cast<float>(deviation / std::sqrt(mean_square(vectors) + 1e-30));
  Tensor& table = model.parameters().named("model.shared.weight").value;
  int64_t found = 0;
  for (int32_t token = 0; token < model.config().vocab_size; ++token) {
    const auto entry = vectors.rows.find(word_of(piece(token)));
    if (entry == vectors.rows.end()) continue;
    ++found;
    for (int64_t i = 0; i < d_model; ++i)
      table.data<float>()[token * d_model + i] = scale * entry->second[static_cast<size_t>(i)];
  }
  return found;
}

}  // namespace heed::train

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/nn/positions.h"
#include "heed/ops/embedding.h"

namespace heed::nn {

/// The input of a stack: scaled token vectors plus vectors of positions and segments, with a norm,
/// dropout and a linear map to d_model, each where the model has it.
class Embeddings {
 public:
  struct Settings {
    int64_t d_model = 0;
    int64_t width = 0;       // E, of the tables, where a linear map takes it to d_model; 0: D
    int64_t vocab_size = 0;  // V
    int32_t padding = -1;    // EmbeddingInput::padding
    float scale = 1.0f;      // of the token vectors
    std::optional<Sinusoids::Settings> sinusoids = {};  // added for positions
    int64_t learned_positions = 0;                      // rows of a learned table; 0: none
    int64_t first_position = 0;                         // its row for the first token of a sequence
    /// This token has the row before first_position, and later tokens do not count it; -1: none.
    int32_t padding_id = -1;
    int64_t type_vocab_size = 0;  // rows of a table of segments; 0: none
    std::optional<Norm::Settings> norm = {};
    float dropout = 0.0f;
  };
  /// `tokens` [V, E], with tensor parallelism some of its rows, is shared with others. Parameters
  /// are `name`.embed_positions, embed_types, layernorm_embedding and embed_projection.
  Embeddings(Parameters& parameters, const std::string& name, const Parameter& tokens,
             Settings settings);

  /// ids and positions [N] -> [N, D]; types [N] are segments, all 0 if it is empty, and unused
  /// without a table of them. Throws Error on one outside its table.
  Tensor forward(Context& context, std::span<const int32_t> ids, std::span<const int32_t> positions,
                 std::span<const int32_t> types = {}) const;

  /// Sets the rows of the sinusoids [R, D] f32 to those of a file, which may have been rounded.
  void set_sinusoids(const Tensor& rows) {
    if (sinusoids_) sinusoids_->set(rows);
  }

 private:
  std::vector<int32_t> rows_of_positions(std::span<const int32_t> ids,
                                         std::span<const int32_t> positions) const;
  Tensor token_vectors(Context& context, std::span<const int32_t> ids) const;

  Settings settings_;
  const TensorParallel* parts_;  // of the rows of `tokens`
  const Parameter& tokens_;
  const Parameter* types_;  // null: none
  std::optional<Sinusoids> sinusoids_;
  const Parameter* learned_positions_;  // null: none
  std::optional<Norm> norm_;
  std::optional<Linear> projection_;
};

}  // namespace heed::nn

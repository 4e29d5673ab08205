#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heed/model/config.h"
#include "heed/nn/alibi.h"
#include "heed/nn/embeddings.h"
#include "heed/nn/relative_bias.h"
#include "heed/nn/transformer_layer.h"

namespace heed::model {

/// The encoder or the decoder: embeddings, layers, and the positions that attention uses.
class Stack {
 public:
  enum class Kind { encoder, decoder };
  /// Which of the pass's position encodings a layer uses.
  enum class Positions { all, local, none };
  /// Parameters begin with "model.encoder" or "model.decoder"; `tokens` [V, E] is shared.
  Stack(nn::Parameters& parameters, const ModelConfig& config, Kind kind, const Parameter& tokens);

  /// What a pass reads beside its input.
  struct Inputs {
    std::span<const int32_t> positions;  // [N], of each token in its sequence
    const nn::SelfSpans& own_spans;
    std::vector<nn::KeyValueCache>& caches;  // [L]
    std::span<const nn::KeysValues> memory;  // [L], or empty without cross-attention
    const nn::Spans& memory_spans;
    std::span<const int32_t> types = {};  // [N], segments; empty: all 0
    /// Gets the embeddings and the output of each layer, [N, D] each; null: nobody wants them.
    std::vector<Tensor>* layer_states = nullptr;
  };
  /// ids [N] -> states [N, D], after the last norm.
  Tensor forward(Context& context, std::span<const int32_t> ids, const Inputs& reads) const;

  const std::vector<nn::TransformerLayer>& layers() const { return layers_; }
  nn::Embeddings& embeddings() { return embeddings_; }

 private:
  /// While `scope` lives, new parameters are at their place in the stack.
  Stack(nn::Parameters& parameters, const nn::Parameters::Scope& scope, const ModelConfig& config,
        Kind kind, const Parameter& tokens);
  struct Encodings {
    nn::PositionEncoding all, local, none;
    const nn::PositionEncoding& of(Positions positions) const;
  };
  Encodings position_encodings(Context& context, const Inputs& reads) const;

  nn::Embeddings embeddings_;
  std::vector<nn::TransformerLayer> layers_;
  std::optional<nn::Norm> norm_;      // after the last layer, unless each layer ends with one
  std::vector<Positions> positions_;  // [L]
  std::optional<nn::Rotary> rotary_, local_rotary_;
  std::optional<nn::RelativeBias> relative_bias_;
  std::optional<nn::Alibi> alibi_;
  std::optional<nn::RelativeEmbeddings> distances_;
};

}  // namespace heed::model

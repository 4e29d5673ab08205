#pragma once

#include <cstdint>

namespace heed {

/// What a parameter is to its model. How it is read, packed and quantised follows from this and its
/// rank, never from its name. A bias has the role of the matrix beside it.
enum class WeightRole : uint8_t {
  other,
  token_embedding,       // [V, D]: rows are looked up; also the head's weight where that is tied
  position_embedding,    // [P, D]: rows are looked up
  token_type_embedding,  // [T, D]: rows are looked up
  relative_bias,         // [buckets, H]: numbers are looked up and added to scores
  attention_sinks,       // [H]: scores of no key
  query,                 // to queries, also down to and up from their latent
  key_value,             // to keys or to values of self-attention, or down to their latent
  latent_key_value,      // from the latent up to keys and values; decoding reads it head by head
  cross_key_value,       // the encoder's output to keys or to values: read once per source
  output,                // from the heads back to d_model
  ff_up,                 // into the feed-forward network: the hidden units, or their gates
  ff_down,               // out of it
  router,                // to the scores of experts
  embedding_projection,  // [D, E] from the width of the embeddings to d_model (ALBERT)
  head_transform,        // [D, D] before the head (BERT)
  pooler,                // [D, D] after the first token's state (BERT)
  head,                  // [V, D]: to the logits
  dense_module,  // [W, D]: from vectors of texts or tokens; no part of the model's own files
  norm           // scale or shift of a norm
};

/// Whether matrices of this role are factors of products. A token embedding is one, too, where it
/// is also the head.
constexpr bool is_multiplied(WeightRole role) {
  switch (role) {
    case WeightRole::query:
    case WeightRole::key_value:
    case WeightRole::latent_key_value:
    case WeightRole::cross_key_value:
    case WeightRole::output:
    case WeightRole::ff_up:
    case WeightRole::ff_down:
    case WeightRole::router:
    case WeightRole::embedding_projection:
    case WeightRole::head_transform:
    case WeightRole::pooler:
    case WeightRole::head:
      return true;
    default:
      return false;
  }
}

/// Whether all products with matrices of this role are linear maps of rows of a pass (ops::linear),
/// to which adapters add their updates.
constexpr bool is_adaptable(WeightRole role) {
  return is_multiplied(role) && role != WeightRole::head && role != WeightRole::latent_key_value;
}

/// Where in a model a parameter is.
struct WeightPlace {
  enum class Stack : uint8_t { none, encoder, decoder };
  Stack stack = Stack::none;
  int64_t layer = -1;    // of the stack; -1: outside of its layers
  int64_t n_layers = 0;  // of the stack, for a parameter of a layer
  bool expert = false;   // whether it belongs to one expert of a mixture
};

}  // namespace heed

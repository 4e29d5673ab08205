#pragma once

#include "heed/model/transformer.h"

namespace heed::tasks {

/// The last hidden states [N, D]: the encoder's if there is one, else the decoder's.
inline Tensor hidden_states(const model::Transformer& model, Context& context,
                            const model::Tokens& tokens) {
  return model.has_encoder() ? model.encode(context, tokens).states
                             : model.decode_all(context, tokens);
}

}  // namespace heed::tasks

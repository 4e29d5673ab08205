#include "heed/train/batch_loss.h"

#include "heed/ops/rows.h"
#include "heed/train/preference_loss.h"

namespace heed::train {

ops::Loss batch_loss(const model::Transformer& model, Context& context, const data::Batch& batch,
                     const kernels::CrossEntropyOptions& options) {
  if (!batch.preferences.offsets.empty())
    return preference_loss(model, context, batch, options.gradient_scale);
  model::Memory memory;
  if (model.has_encoder()) memory = model.encode(context, {batch.source, batch.source_offsets});
  Tensor states =
      model.has_decoder()
          ? model.decode_all(context, {batch.decoder_input, batch.target_offsets}, memory)
          : memory.states;  // [T, D] or [S, D]
  if (!batch.rows.empty()) states = ops::gather_rows(context, states, batch.rows);  // [M, D]
  return model.head().loss(context, states, batch.target, options);
}

}  // namespace heed::train

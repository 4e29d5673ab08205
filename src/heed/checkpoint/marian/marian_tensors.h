#pragma once

#include <memory>

#include "heed/checkpoint/marian/marian_settings.h"
#include "heed/io/npz_file.h"

namespace heed::checkpoint {

/// Marian's arrays under the names of transformers' MarianMTModel. Matrices are transposed, and
/// tables of embeddings, the bias of the logits and a head of its own have one row more, of the
/// token that decoders start with.
std::shared_ptr<const io::TensorSource> marian_tensors(std::shared_ptr<const io::NpzFile> weights,
                                                       const MarianSettings& settings);

}  // namespace heed::checkpoint

#pragma once

#include <filesystem>
#include <memory>

#include "heed/io/marian_files.h"
#include "heed/io/safetensors.h"
#include "heed/model/families/family.h"
#include "heed/model/transformer.h"

namespace heed::checkpoint {

/// A model in Marian's own files.
struct MarianModel {
  model::ModelConfig config;
  model::Family family;
  /// The arrays under the names that the family has in transformers' files. Matrices are
  /// transposed, and embeddings have a row of zeros more, of the token that decoders start with.
  std::shared_ptr<const io::TensorSource> weights;
};

/// Reads Marian's Transformer (`type: transformer`): post-norm, which becomes MarianMTModel, or
/// pre-norm, which becomes PegasusForConditionalGeneration, with one, two or three tables of
/// embeddings, as the settings within the .npz say. Throws Error that names the file and a setting
/// that heed does not apply.
MarianModel open_marian_model(const io::MarianFiles& files);

/// The model as transformers computes such models, and its own converter leaves them: with other
/// frequencies of positions, 10000^(-2i/D) in place of 10000^(-2i/(D-2)), and LayerNorm's epsilon
/// 1e-5 in place of 1e-6.
std::unique_ptr<model::Transformer> load_marian_for_transformers(const io::MarianFiles& files);

}  // namespace heed::checkpoint

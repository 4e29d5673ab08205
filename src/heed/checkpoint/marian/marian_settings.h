#pragma once

#include <cstdint>
#include <string>

#include "heed/io/npz_file.h"

namespace heed::checkpoint {

/// What the settings within a .npz say of Marian's Transformer.
struct MarianSettings {
  int64_t d_model = 0, n_heads = 0, d_ff = 0, decoder_d_ff = 0;
  int64_t encoder_layers = 0, decoder_layers = 0;
  std::string activation;  // "relu", "swish"
  bool pre_norm = false;
  bool shared_embeddings = false;  // of both languages
  bool tied_head = false;          // to the target's
};

/// Throws Error that names the file and the setting: one that is missing, that heed does not apply,
/// or that it does not know.
MarianSettings read_marian_settings(const io::NpzFile& weights);

}  // namespace heed::checkpoint

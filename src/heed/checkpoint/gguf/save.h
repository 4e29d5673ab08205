#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heed/io/gguf/gguf_file.h"
#include "heed/io/gguf/write.h"
#include "heed/model/transformer.h"

namespace heed::checkpoint {

/// What a GGUF file is to have beside the weights.
struct GgufContents {
  /// The type of the matrices. f32, f16, bf16 and q8_0 are those of all matrices, as in llama.cpp's
  /// converter; with less bits, sensitive ones have more (quantize::quantized_dtype()). Vectors,
  /// norms, routers and tables of positions are f32. Tensors that have their type already are
  /// copied as they are.
  DType dtype = DType::f16;
  /// The file that the model is from, if it is one: its metadata stay, except general.file_type,
  /// and `metadata` is not used.
  std::shared_ptr<const io::GgufFile> original = {};
  /// Of the tokenizer, and what else the model's configuration does not say.
  io::GgufValues metadata = {};
  /// Called with a file that has everything but the values of the weights, before they are written.
  std::function<void(const io::GgufFile&)> check = {};
};

/// Writes a model to a GGUF file as llama.cpp's converter does, which replaces one at `path`. Its
/// tensors are converted one at a time. Returns warnings about what the file leaves out. Throws
/// Error when the model's family has no GGUF files, when they cannot say what its configuration
/// says, naming the first such field, and when the file cannot be written; all but the last are
/// found before the weights are written.
std::vector<std::string> save_gguf(const std::filesystem::path& path,
                                   const model::Transformer& model, const GgufContents& contents);

}  // namespace heed::checkpoint

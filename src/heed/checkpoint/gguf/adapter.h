#pragma once

#include <filesystem>
#include <string>

#include "heed/checkpoint/adapter_directory.h"

namespace heed::checkpoint {

/// Reads a LoRA adapter in a GGUF file, as llama.cpp's convert_lora_to_gguf.py writes it: matrices
/// NAME.lora_a [r, in] and NAME.lora_b [out, r], where NAME is that of the weight in GGUF files of
/// the model, and adapter.lora.alpha, which is r times the scale of every update. Throws Error that
/// names the file, the key or tensor, what was found and what was expected.
LoadedAdapter load_gguf_adapter(const std::filesystem::path& path, const model::Transformer& model);

/// Writes such a file, which replaces one at `path`. `dtype` is f32, f16, bf16 or q8_0; with q8_0,
/// matrices whose rows are not whole blocks are f16. `name` is its general.name. Throws Error,
/// before anything is written, when the model's family has no GGUF files, when they have no such
/// weight, and when alpha is not the same everywhere.
void save_gguf_adapter(const std::filesystem::path& path, const model::Transformer& model,
                       const LoadedAdapter& adapter, DType dtype, const std::string& name);

}  // namespace heed::checkpoint

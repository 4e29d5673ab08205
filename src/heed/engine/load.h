#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "heed/checkpoint/model_directory.h"
#include "heed/engine/device_choice.h"
#include "heed/io/model_files.h"
#include "heed/load_options.h"
#include "heed/model/transformer.h"
#include "heed/tensor/dtype.h"
#include "heed/text/model_tokenizer.h"

namespace heed::engine {

/// The dtype of a WeightType.
DType dtype_of(WeightType type);
/// The dtype of a CacheType.
DType dtype_of(CacheType type);
/// The type of the activations.
DType activation_dtype(const LoadOptions& options);

/// Opens the files of a model to be loaded with these options. Throws Error on options out of
/// range, and as checkpoint::OpenedModel does.
checkpoint::OpenedModel open_model(const io::ModelFiles& files, const LoadOptions& options);

/// What load_transformer() puts into memory, by the headers of the weights, and the kv cache of the
/// model's context (of kDefaultContext tokens at most).
LoadedBytes memory_to_load(const checkpoint::OpenedModel& opened, const LoadOptions& options);

/// The options of a model on a device. Where they name no arithmetic, weights of 16 bits are
/// multiplied in bf16 there, by tensor cores.
LoadOptions options_on_device(const checkpoint::OpenedModel& opened, LoadOptions options);

/// Loads a model without its tokenizer onto a device (null: the host), and packs its weights as
/// LoadOptions says. Throws Error, which names `path`, as checkpoint::load_model() does and when
/// int8 arithmetic finds no quantised weights.
std::unique_ptr<model::Transformer> load_transformer(checkpoint::OpenedModel opened,
                                                     const std::filesystem::path& path,
                                                     const LoadOptions& options,
                                                     Device* device = nullptr);
/// Opens a model and loads it onto the host.
std::unique_ptr<model::Transformer> load_transformer(const io::ModelFiles& files,
                                                     const LoadOptions& options);

/// The size of the files with a model's weights in bytes; files that cannot be read do not count.
uint64_t weight_file_bytes(const std::filesystem::path& path);

/// The tokenizer of a model directory or GGUF file: one for each side of a translation model, or
/// one for all texts. Throws Error when there is none or when it is damaged.
text::ModelTokenizer read_tokenizer(const io::ModelFiles& files);

/// A warning when the tokenizer has more pieces than the model's vocabulary. The model refuses a
/// text in which one of them occurs.
std::vector<std::string> vocabulary_warnings(const std::filesystem::path& path,
                                             const text::ModelTokenizer& tokenizer,
                                             const model::Transformer& model);

/// The one tokenizer for all texts. Throws Error, which names the `purpose` ("embedding"), when
/// each side has its own vocabulary.
const text::Tokenizer& shared_tokenizer(const std::filesystem::path& path,
                                        const text::ModelTokenizer& tokenizer,
                                        std::string_view purpose);

}  // namespace heed::engine

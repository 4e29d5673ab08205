#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "heed/model/transformer.h"

namespace heed::train {

/// A Dense module of sentence-transformers that is trained with a model: f(x W^T + b) of the
/// vectors of its texts or, as ColBERT's projection, of its tokens. Its weights are parameters of
/// the model that are saved beside the model's own files, in FOLDER/model.safetensors.
struct DenseModule {
  std::string folder;  // in the result: "2_Dense"
  int64_t in = 0, out = 0;
  bool bias = false;
  std::string activation = "torch.nn.modules.linear.Identity";  // its activation_function
  std::filesystem::path start = {};  // its folder in the model to start from; empty: random values
};

/// Gives a model the parameters of modules, with random values: FOLDER.linear.weight [out, in] and
/// FOLDER.linear.bias [out].
void add_dense_modules(model::Transformer& model, std::span<const DenseModule> modules);

struct DenseParameters {
  const Parameter* weight;
  const Parameter* bias;  // null: the module has none
};
/// Those of all modules, in their order.
std::vector<DenseParameters> dense_parameters(const model::Transformer& model);

/// Sets the parameters of modules, which a model has, to those of the model to start from. Throws
/// Error when these have other shapes.
void load_dense_modules(std::span<const DenseModule> modules, model::Transformer& model);

/// The tensors of the modules by the names of their parameters.
std::vector<io::NamedTensor> dense_tensors(const model::Transformer& model);
/// Those that save_dense_modules() has written.
std::vector<io::NamedTensor> read_dense_modules(const std::filesystem::path& directory,
                                                const model::Transformer& model);
void save_dense_modules(const std::filesystem::path& directory, const model::Transformer& model);
/// Sets the parameters of the modules from tensors by their names.
void set_dense_modules(model::Transformer& model, const io::TensorSource& tensors);

}  // namespace heed::train

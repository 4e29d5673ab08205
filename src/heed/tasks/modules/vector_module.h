#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/tensor/tensor.h"

namespace heed::io {
class TensorSource;
}

namespace heed::tasks {

/// A module of sentence-transformers that maps each vector by itself: the vector of a text, after
/// Pooling, or the state of a token before it. It computes in f32 on the host.
class VectorModule {
 public:
  virtual ~VectorModule() = default;
  /// Elements of its results for vectors of `in` elements. Throws Error, naming its file, when it
  /// reads vectors of another width.
  virtual int64_t width(int64_t in) const = 0;
  /// x [N, in] -> [N, width(in)].
  virtual Tensor forward(const Tensor& x) const = 0;
  /// Whether its results have length 1.
  virtual bool normalizes() const { return false; }
};

/// In the order in which they are applied.
using VectorModules = std::vector<std::shared_ptr<const VectorModule>>;

/// The width of the results of all of them for vectors of `in` elements.
int64_t width_after(const VectorModules& modules, int64_t in);

/// x [N, in], mapped by all of them.
Tensor applied(const VectorModules& modules, Tensor x);

/// A module and what it reads.
struct ReadModule {
  std::shared_ptr<const VectorModule> module;  // null: it changes nothing
  bool of_tokens = false;                      // the states of tokens, not the vector of a text
};

/// Whether this is the name of the class of a VectorModule, or of one that changes nothing
/// (Dropout).
bool is_vector_module(std::string_view kind);

/// Reads Dense, LayerNorm, Normalize or Dropout from its folder: config.json, and
/// model.safetensors or pytorch_model.bin. Throws Error, naming file and key, on a setting that
/// heed does not apply, and on weights that are missing, of another shape or superfluous.
/// A Dense without module_input_name reads the states of tokens if `multi_vector`.
ReadModule read_vector_module(std::string_view kind, const std::filesystem::path& folder,
                              bool multi_vector = false);

/// The linear map of a file of torch.save with "weight" and "bias", followed by ReLU or by nothing.
std::shared_ptr<const VectorModule> read_linear_file(const std::filesystem::path& file, bool relu);
/// The linear map of a matrix [out, in] among other weights.
std::shared_ptr<const VectorModule> projection_module(const io::TensorSource& weights,
                                                      const std::string& name);
/// A module that scales vectors to length 1.
std::shared_ptr<const VectorModule> normalize_module();

/// Scales [N, D] to rows of length 1; zeros stay.
void normalize_rows(Tensor& x);

}  // namespace heed::tasks

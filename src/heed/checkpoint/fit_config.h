#pragma once

#include <string>

#include "heed/io/safetensors.h"
#include "heed/model/families/family.h"

namespace heed::checkpoint {

/// The name in the file of a weight that the family calls `name`. The file may add or lack the
/// family's prefix ("bert."), and may use older names.
std::string name_in(const io::TensorSource& source, const model::Family& family,
                    const std::string& name);

/// The name in the file of a parameter, `shape` as in the file: that of the tensor which holds it,
/// or the expected one if there is none.
std::string tensor_of(const io::TensorSource& source, const model::Family& family,
                      const model::ModelConfig& config, const std::string& parameter,
                      const Shape& shape);

/// The configuration with what only the tensors tell: whether there is a pooler and a head, and
/// whether the token embeddings that a configuration ties are equal in the file, as transformers
/// decides it. Throws Error when they differ and the family cannot express it.
model::ModelConfig fitted(model::ModelConfig config, const model::Family& family,
                          const io::TensorSource& source);

/// Whether a tensor that no parameter is read from may be left out: fixed tables, a copy of the
/// embedding, a head that the model does not use.
bool may_be_left_out(const io::TensorSource& source, const model::Family& family,
                     const model::ModelConfig& config, const std::string& name);

}  // namespace heed::checkpoint

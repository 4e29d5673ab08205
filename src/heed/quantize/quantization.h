#pragma once

#include <set>
#include <string>

#include "heed/model/transformer.h"
#include "heed/quantize/calibration.h"

namespace heed::quantize {

/// How a model is made smaller.
struct Quantization {
  DType dtype = DType::q8_0;          // of the matrices: q8_0, q4_1, q4_0, or a plain type
  Importance importance = {};         // finished; guides the rounding to 4 bits
  std::set<std::string> spared = {};  // parameters that keep 8 bits, see spared_parameters()
};

/// The parameters of a model that 4 bits harm most for their size, beyond those that are known by
/// their names (see quantized_dtype): the maps back from the feed-forward network in the first and
/// the last eighth of the layers of each stack that has eight. What they read is the most
/// uneven of all inputs, single columns by far the largest, and in these layers most of all.
std::set<std::string> spared_parameters(const model::Transformer& model);

/// In what a parameter of this name and shape, stored as `stored`, is kept. Of 4 bits are only
/// matrices that layers multiply with, which are most of a model, and of these not those that are
/// spared, nor the ones that make keys and values: all queries read them, they are small where
/// heads share them, and in a Llama with such heads 4 bits cost a third as much without them. All
/// else keeps 8 bits, too: the embedding and the head, whose errors no later layer evens out and
/// which are one matrix in many models; tables of positions, segments and distances; a mixture's
/// router, where an error changes which expert is asked. Vectors stay f32; a matrix whose rows are
/// not whole blocks becomes bf16.
DType quantized_dtype(const Quantization& how, const std::string& parameter, const Shape& shape,
                      DType stored);

/// The weight of the parameter of this name in `dtype`: itself, or a copy. Throws Error on a value
/// that cannot be stored, and when the importance is that of another model.
Tensor quantized(const Quantization& how, const std::string& parameter, const Tensor& weight,
                 DType dtype);

/// All parameters of a model, one after the other.
void quantize(model::Transformer& model, const Quantization& how);

}  // namespace heed::quantize

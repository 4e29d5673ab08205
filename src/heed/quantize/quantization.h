#pragma once

#include <string>

#include "heed/model/transformer.h"
#include "heed/quantize/calibration.h"

namespace heed::quantize {

/// How a model is made smaller.
struct Quantization {
  DType dtype = DType::q8_0;     // of the matrices: q8_0, q4_1, q4_0, or a plain type
  Calibration calibration = {};  // finished; guides the rounding to 4 bits
};

/// The type that a parameter gets when the matrices of its model are to become `wanted`. `shape`
/// and `stored` are those of the tensor that holds it (a file may keep several parameters in one).
///
/// Vectors are f32; a matrix whose rows are not whole blocks becomes bf16. Where 4 bits are wanted,
/// these matrices keep 8:
/// - keys and values: all queries read them, they are small where heads share them, and in a Llama
///   with shared heads 4 bits cost a third as much without them;
/// - the embedding and the head, whose errors no later layer corrects, and which are one matrix in
///   many models; tables of positions, segments and distances;
/// - a mixture's router, where an error changes which expert is asked;
/// - the maps out of the feed-forward network in the first and the last eighth of the layers of a
///   stack: what they read is the most uneven of all inputs, single columns by far the largest, and
///   in these layers most of all.
DType quantized_dtype(DType wanted, const Parameter& parameter, const Shape& shape, DType stored);

/// The weight of the parameter of this name in `dtype`: itself, or a copy. Throws Error on a value
/// that cannot be stored, and when the calibration is of another model.
Tensor quantized(const Quantization& how, const std::string& parameter, const Tensor& weight,
                 DType dtype);

/// Quantises all parameters of a model, one after the other.
void quantize(model::Transformer& model, const Quantization& how);

}  // namespace heed::quantize

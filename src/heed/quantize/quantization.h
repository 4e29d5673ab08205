#pragma once

#include <string>

#include "heed/model/transformer.h"
#include "heed/quantize/calibration.h"

namespace heed::quantize {

/// How to quantise a model.
struct Quantization {
  DType dtype = DType::q8_0;     // of the matrices: one that kernels::is_written()
  Calibration calibration = {};  // finished; used for types of less than 8 bits
};

/// The dtype of a parameter in a model that is quantised to `wanted`. `shape` and `stored` are
/// those of the tensor that holds it (a file may store several parameters in one tensor).
///
/// Vectors are f32; see dtype_in() for matrices whose rows are not whole blocks. If `wanted` has
/// less than 8 bits, these matrices get 8 bits (q8_0), or q6_K if `wanted` has sub-scales, as in
/// the files that are called Q4_K_M and Q5_K_M:
/// - k_proj and v_proj: all queries depend on them, and with grouped-query attention they are
/// small;
/// - the embedding and the head, which are one matrix in many models: no later layer corrects their
///   errors. Likewise tables of positions, segments and relative distances;
/// - the router of a mixture of experts, where an error selects other experts;
/// - ff_down in the first and the last eighth of a stack's layers: its input has outlier columns,
///   which are largest in these layers.
DType quantized_dtype(DType wanted, const Parameter& parameter, const Shape& shape, DType stored);

/// Converts the weight of the parameter of this name to `dtype`; returns the weight itself if it
/// has it. Throws Error on a value that cannot be stored, and when the calibration is of another
/// model.
Tensor quantized(const Quantization& how, const std::string& parameter, const Tensor& weight,
                 DType dtype);

/// Quantises all parameters of a model in place, one after the other.
void quantize(model::Transformer& model, const Quantization& how);

}  // namespace heed::quantize

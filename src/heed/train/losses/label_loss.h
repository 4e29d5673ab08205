#pragma once

#include "heed/data/labels.h"
#include "heed/model/transformer.h"
#include "heed/ops/cross_entropy.h"

namespace heed::train {

/// The loss of logits [M, C] against labels of M texts or tokens, summed over these:
/// -w_c log softmax(x)_c for one class c; the mean over the C logits of
/// -(w_c y log sigmoid(x) + (1 - y) log(1 - sigmoid(x))), or of (x - y)^2. So its mean is that of
/// PyTorch's CrossEntropyLoss without weights, of BCEWithLogitsLoss (pos_weight) and of MSELoss.
/// For margin_mse, the mean over the other logits x_n of an example of (x_0 - x_n - y_n)^2, whose
/// mean is sentence-transformers' MarginMSELoss of cross-encoders. `negative_log_likelihood` is the
/// same without weights, and 0 for squared errors, which are not of probabilities. With a tape,
/// records the gradient of the sum times `gradient_scale`. Sums are taken in f64.
ops::Loss label_loss(Context& context, const Tensor& logits, const data::Labels& labels,
                     float gradient_scale);

}  // namespace heed::train

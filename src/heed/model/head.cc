#include "heed/model/head.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/kernels/soft_cap.h"
#include "heed/ops/activation.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/multiply.h"
#include "heed/ops/splade.h"

namespace heed::model {

namespace {

/// The rows of the vocabulary that this part of a tensor-parallel model has.
int64_t rows_of(const ModelConfig& c, const nn::TensorParallel* parts) {
  return parts ? parts->size(c.vocab_size) : c.vocab_size;
}

/// Some rows of a matrix of any dtype.
Tensor rows_of(const Tensor& matrix, std::span<const int32_t> numbers) {
  Tensor rows =
      Tensor::empty({static_cast<int64_t>(numbers.size()), matrix.cols()}, matrix.dtype());
  const int64_t bytes = matrix.row_bytes();
  std::byte* to = rows.raw();
  for (const int32_t number : numbers) {
    require(number >= 0 && number < matrix.rows(), "row {} is outside the matrix {}", number,
            matrix.shape().text());
    std::copy_n(matrix.raw() + number * bytes, bytes, to);
    to += bytes;
  }
  return rows;
}

}  // namespace

Head::Head(nn::Parameters& parameters, const ModelConfig& c, const Parameter& embedding)
    : parts_(parameters.parts()),
      vocab_size_(c.vocab_size),
      scale_(c.head_scale),
      soft_cap_(c.final_logit_softcapping),
      activation_(c.activation),
      weight_(c.tied_head
                  ? embedding
                  : parameters.create("lm_head.weight", {rows_of(c, parts_), c.embedding_width()},
                                      nn::Initializer::xavier(), WeightRole::head)),
      bias_(c.head_bias ? parameters.create("final_logits_bias", {rows_of(c, parts_)},
                                            nn::Initializer::zeros(), WeightRole::head)
                        : parameters.absent()) {
  if (!c.head_transform) return;
  dense_.emplace(parameters, "lm_head.dense",
                 nn::Linear::Sizes{c.d_model, c.embedding_width(), c.head_transform_bias},
                 WeightRole::head_transform);
  norm_.emplace(parameters, "lm_head.layer_norm",
                nn::Norm::Settings{.kind = c.norm,
                                   .d_model = c.embedding_width(),
                                   .epsilon = c.norm_epsilon,
                                   .bias = c.norm_bias});
}

Tensor Head::transform(Context& context, const Tensor& states) const {
  if (scale_ != 1.0f) return ops::scale(context, states, scale_);
  if (!dense_) return states;
  return norm_->forward(context,
                        ops::activation(context, activation_, dense_->forward(context, states)));
}

/// The logits of the rows of `weight`, without a soft cap.
Tensor Head::product(Context& context, const Tensor& states, const Parameter& weight,
                     const Parameter& bias) const {
  require(!context.tape, "logits have no backward step: train through loss()");
  Tensor logits = Tensor::empty({states.rows(), weight.shape[0]});
  ops::multiply(transform(context, states), weight, bias, logits);
  return logits;
}

Tensor Head::logits(Context& context, const Tensor& states) const {
  Tensor logits = product(context, states, weight_, bias_);
  if (parts_) logits = whole(logits);
  if (soft_cap_ != 0.0f) kernels::soft_cap(soft_cap_, logits);
  return logits;
}

bool Head::has_rows() const { return !parts_ && weight_.present() && !weight_.value.device(); }

HeadRows Head::rows(std::span<const int32_t> tokens) const {
  require(has_rows(), "{} has no rows to choose from", weight_.name);
  const auto n = static_cast<int64_t>(tokens.size());
  HeadRows rows;
  rows.weight.name = weight_.name;
  rows.weight.shape = {n, weight_.shape[1]};
  rows.weight.value = rows_of(weight_.value, tokens);
  rows.bias.name = bias_.name;
  if (weight_.packed.defined()) rows.weight.packed = weight_.packed.pack_alike(rows.weight.value);
  if (bias_.present())
    rows.bias.value = rows_of(bias_.value.reshaped({bias_.shape[0], 1}), tokens).reshaped({n});
  return rows;
}

Tensor Head::logits(Context& context, const Tensor& states, const HeadRows& rows) const {
  Tensor logits = product(context, states, rows.weight, rows.bias);
  if (soft_cap_ != 0.0f) kernels::soft_cap(soft_cap_, logits);
  return logits;
}

/// The logits of all parts, of which `part` [N, Vp] has those of this one: [N, V].
Tensor Head::whole(const Tensor& part) const {
  const int64_t rows = part.rows();
  std::vector<int64_t> bounds;
  for (int i = 0; i <= parts_->world_size(); ++i)
    bounds.push_back(rows * parts_->begin_of(vocab_size_, i));
  Tensor all = Tensor::empty({bounds.back()});
  float* const to = all.data<float>();
  std::copy_n(part.data<float>(), part.elements(),
              to + bounds[static_cast<size_t>(parts_->rank())]);
  parts_->all_gather({to, static_cast<size_t>(all.elements())}, bounds);
  if (rows == 1) return all.reshaped({1, vocab_size_});
  Tensor logits = Tensor::empty({rows, vocab_size_});
  for (int i = 0; i < parts_->world_size(); ++i) {
    const int64_t begin = parts_->begin_of(vocab_size_, i);
    const int64_t width = parts_->begin_of(vocab_size_, i + 1) - begin;
    for (int64_t row = 0; row < rows; ++row)
      std::copy_n(to + bounds[static_cast<size_t>(i)] + row * width, width,
                  logits.data<float>() + row * vocab_size_ + begin);
  }
  return logits;
}

Tensor Head::splade(Context& context, const Tensor& states,
                    const std::vector<int32_t>& offsets) const {
  require(soft_cap_ == 0.0f && !parts_, "SPLADE needs a whole head without a soft cap");
  return ops::splade(context, transform(context, states), weight_, bias_, offsets);
}

ops::Loss Head::loss(Context& context, const Tensor& states, std::span<const int32_t> targets,
                     kernels::CrossEntropyOptions options) const {
  options.soft_cap = soft_cap_;
  return ops::cross_entropy(context, transform(context, states), weight_, bias_, targets, options);
}

}  // namespace heed::model

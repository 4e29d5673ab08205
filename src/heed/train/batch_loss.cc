#include "heed/train/batch_loss.h"

#include <array>
#include <cmath>
#include <optional>

#include "heed/ops/alignment_loss.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/rows.h"
#include "heed/train/losses/label_loss.h"
#include "heed/train/losses/pooled_texts.h"
#include "heed/train/losses/vector_loss.h"

namespace heed::train {
namespace {

/// The predictions of one answer of a batch.
struct Answer {
  std::span<const int32_t> rows, targets;
};

Answer answer_of(const data::Batch& batch, size_t sequence) {
  const auto begin = static_cast<size_t>(batch.preferences.offsets[sequence]);
  const auto count = static_cast<size_t>(batch.preferences.offsets[sequence + 1]) - begin;
  return {std::span(batch.rows).subspan(begin, count),
          std::span(batch.target).subspan(begin, count)};
}

size_t answers_in(const data::Batch& batch) { return batch.preferences.offsets.size() - 1; }

/// -log p of each answer, from the last hidden states. With `trains`, products are those of
/// training, whose weights are not packed.
std::vector<double> answer_losses(const model::Transformer& model, const Tensor& states,
                                  const data::Batch& batch, bool trains) {
  std::vector<double> sums;
  for (size_t sequence = 0; sequence < answers_in(batch); ++sequence) {
    const auto [rows, targets] = answer_of(batch, sequence);
    Tape unused;
    Context plain, context{.tape = trains ? &unused : nullptr, .dtype = states.dtype()};
    const Tensor own = ops::gather_rows(plain, states, rows);
    sums.push_back(model.head().loss(context, own, targets, {}).negative_log_likelihood);
  }
  return sums;
}

std::vector<double> reference_losses(const model::Transformer& model, const Context& policy,
                                     const data::Batch& batch) {
  constexpr std::array kNoAdapters{AdaptedRows{0, 0, {}}};
  Tape unused;
  Context context{.tape = policy.tape ? &unused : nullptr,
                  .dtype = policy.dtype,
                  .dropout = false,
                  .adapters = kNoAdapters};
  return answer_losses(model,
                       model.decode_all(context, {batch.decoder_input, batch.target_offsets}),
                       batch, policy.tape != nullptr);
}

double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

/// Direct preference optimisation (DPO, Rafailov et al. 2023, equation 7) of a decoder-only model
/// whose adapters are trained; without them it is the reference. For each pair of answers the loss
/// is -log sigmoid(m) with m = beta (log p(chosen) - log p(rejected) - the same of the reference).
/// Both sums of the result are that of the loss, and `tokens` is the number of pairs. With a tape,
/// records the backward pass of the sum times `gradient_scale`.
ops::Loss preference_loss(const model::Transformer& model, Context& context,
                          const data::Batch& batch, float gradient_scale) {
  const std::vector<double> reference = reference_losses(model, context, batch);
  const Tensor states = model.decode_all(context, {batch.decoder_input, batch.target_offsets});
  const std::vector<double> policy = answer_losses(model, states, batch, context.tape != nullptr);
  const double beta = batch.preferences.beta;
  ops::Loss loss;
  for (size_t chosen = 0; chosen + 1 < answers_in(batch); chosen += 2) {
    const size_t rejected = chosen + 1;
    const double margin =
        beta * (policy[rejected] - policy[chosen] - (reference[rejected] - reference[chosen]));
    loss +=
        {.smoothed = softplus(-margin), .negative_log_likelihood = softplus(-margin), .tokens = 1};
    if (!context.tape) continue;
    const double slope = beta / (1 + std::exp(margin));  // of the loss, by -log p(chosen)
    for (const auto& [sequence, sign] : {std::pair{chosen, 1.0}, {rejected, -1.0}}) {
      const auto [rows, targets] = answer_of(batch, sequence);
      const Tensor own = ops::gather_rows(context, states, rows);
      model.head().loss(context, own, targets,
                        {.gradient_scale = static_cast<float>(sign * slope) * gradient_scale});
    }
  }
  return loss;
}

/// While it exists, the cross-attention of one head adds its loss against the alignments of a
/// batch.
class GuidedAlignment {
 public:
  GuidedAlignment(Context& context, int64_t decoder_layers, const data::Batch& batch,
                  float gradient_scale)
      : context_(context) {
    context.observe_attention = [this, decoder_layers, gradient_scale,
                                 aligned = ops::AlignedKeys{batch.aligned_offsets, batch.aligned}](
                                    AttentionSite site, const kernels::AttentionForward& in) {
      if (site.kind == AttentionSite::Kind::cross && site.layer == decoder_layers - 1)
        loss_ += ops::alignment_loss(context_, in, aligned, 0, gradient_scale);
    };
  }
  ~GuidedAlignment() { context_.observe_attention = {}; }
  GuidedAlignment(const GuidedAlignment&) = delete;
  GuidedAlignment& operator=(const GuidedAlignment&) = delete;

  double loss() const { return loss_; }

 private:
  Context& context_;
  double loss_ = 0;
};

/// The loss of the labels that the classifier gives.
ops::Loss loss_of_labels(const model::Transformer& model, Context& context,
                         const data::Batch& batch, float gradient_scale) {
  Tensor logits = model.classify(context, {batch.source, batch.source_offsets, batch.types});
  if (!batch.labels.rows.empty()) logits = ops::gather_rows(context, logits, batch.labels.rows);
  return label_loss(context, logits, batch.labels, gradient_scale);
}

/// The loss of the vectors of the texts of this batch alone.
ops::Loss loss_of_vectors(const model::Transformer& model, Context& context,
                          const data::Batch& batch, float gradient_scale) {
  const Tensor vectors = pooled_texts(model, context, batch);
  VectorLossResult result = vector_loss(vectors, batch.groups);
  ops::Loss loss{.tokens = batch.groups.count()};
  for (const double one : result.losses) loss.smoothed += one;
  if (result.likelihood) loss.negative_log_likelihood = loss.smoothed;
  if (!context.tape) return loss;
  // That of the mean becomes that of the sum.
  const float factor = gradient_scale * static_cast<float>(loss.tokens);
  Context plain;
  context.tape->add(vectors, ops::scale(plain, result.gradient, factor));
  return loss;
}

}  // namespace

ops::Loss batch_loss(const model::Transformer& model, Context& context, const data::Batch& batch,
                     const kernels::CrossEntropyOptions& options, float alignment_weight) {
  if (!batch.preferences.offsets.empty())
    return preference_loss(model, context, batch, options.gradient_scale);
  if (batch.labels.loss != data::LabelLoss::none)
    return loss_of_labels(model, context, batch, options.gradient_scale);
  if (batch.groups.present()) return loss_of_vectors(model, context, batch, options.gradient_scale);
  std::optional<GuidedAlignment> guided;
  if (alignment_weight > 0 && !batch.aligned_offsets.empty())
    guided.emplace(context, model.config().decoder_layers, batch,
                   alignment_weight * options.gradient_scale);
  model::Memory memory;
  if (model.has_encoder()) memory = model.encode(context, {batch.source, batch.source_offsets});
  Tensor states =
      model.has_decoder()
          ? model.decode_all(context, {batch.decoder_input, batch.target_offsets}, memory)
          : memory.states;  // [T, D] or [S, D]
  if (!batch.rows.empty()) states = ops::gather_rows(context, states, batch.rows);  // [M, D]
  ops::Loss loss = model.head().loss(context, states, batch.target, options);
  if (guided) loss.smoothed += static_cast<double>(alignment_weight) * guided->loss();
  return loss;
}

}  // namespace heed::train

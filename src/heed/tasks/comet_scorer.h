#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/comet.h"
#include "heed/io/safetensors.h"
#include "heed/model/transformer.h"
#include "heed/nn/linear.h"
#include "heed/tasks/comet_settings.h"
#include "heed/text/tokenizer.h"

namespace heed::tasks {

/// Scores translations as COMET does: an encoder, a mixture of its layers, pooling, and a
/// feed-forward estimator. Each thread computes whole batches.
class CometScorer {
 public:
  /// `weights` has the mixture (layerwise_attention.*) and the estimator (estimator.ff.*) under
  /// their names in unbabel-comet's checkpoints. The model must outlive this. Throws Error, naming
  /// the tensor, when one is missing or has another shape, and when there is no such layer.
  CometScorer(const model::Transformer& encoder, text::Tokenizer tokenizer, CometSettings settings,
              const io::TensorSource& weights);
  CometScorer(const CometScorer&) = delete;
  CometScorer& operator=(const CometScorer&) = delete;

  /// Whether a score needs a reference.
  bool needs_reference() const;
  /// Whether references are read at all.
  bool reads_reference() const;

  /// The scores, in order; `with_references`: the references are read where the model reads them.
  /// Throws Error when the model's output is not finite.
  std::vector<double> score(std::span<const CometSegment> segments, bool with_references) const;

 private:
  using Ids = std::vector<int32_t>;
  using Vector = std::vector<float>;

  void load(const io::TensorSource& weights);
  Ids read(std::string_view text) const;
  /// The translation and what follows it, as one sequence.
  Ids joined(std::span<const Ids* const> texts) const;
  std::vector<Vector> embed(std::span<const Ids> sequences) const;
  Vector pooled(std::span<const float* const> layers, std::span<const int32_t> ids) const;
  /// The states [T, D] that are pooled, from those of the layers.
  Vector mixed(std::span<const float* const> layers, size_t rows) const;
  std::vector<double> estimate(const std::vector<Vector>& features) const;
  std::vector<double> score_vectors(std::span<const CometSegment> segments) const;
  std::vector<double> score_sequences(std::span<const CometSegment> segments,
                                      bool with_references) const;

  const model::Transformer& encoder_;
  const text::Tokenizer tokenizer_;
  const CometSettings settings_;
  const int64_t max_tokens_;           // of a sequence
  std::vector<double> layer_weights_;  // of the mixture, times gamma
  nn::Parameters parameters_{std::nullopt};
  std::vector<nn::Linear> estimator_;
};

}  // namespace heed::tasks

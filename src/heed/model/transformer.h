#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/model/config.h"
#include "heed/nn/transformer_layer.h"
#include "heed/ops/cross_entropy.h"
#include "heed/ops/embedding.h"

namespace heed::model {

/// Token numbers of sequences laid end to end: sequence b is [offsets[b], offsets[b + 1]).
struct Tokens {
  std::span<const int32_t> ids;         // [N]
  const std::vector<int32_t>& offsets;  // [B+1]
};

/// The encoder's output for a batch of sources, and what each decoder layer's cross-attention reads
/// of it: computed once per source and kept.
struct Memory {
  Tensor states;                          // [Ns, D]
  std::vector<int32_t> offsets;           // [B+1]
  std::vector<nn::KeysValues> per_layer;  // [L]
};

/// The Transformer of Vaswani et al. (2017), encoder and decoder, and its variants by
/// configuration. One forward pass serves training (the context has a tape), validation and
/// decoding.
class Transformer {
 public:
  /// All parameters exist, initialised from the seed, when this returns. Throws Error when the
  /// configuration is not valid.
  explicit Transformer(ModelConfig config, uint64_t seed = 0);

  const ModelConfig& config() const { return config_; }
  nn::Parameters& parameters() { return parameters_; }
  const nn::Parameters& parameters() const { return parameters_; }

  /// Runs the encoder. Throws Error on a token outside the vocabulary, an empty sequence, or one
  /// longer than max_positions.
  Memory encode(Context& context, const Tokens& source) const;

  /// What the decoder reads in one pass, beside its input.
  struct DecoderReads {
    std::vector<int32_t> positions;  // [N], of each input token in its sequence
    nn::Spans own_spans, memory_spans;
    std::vector<nn::KeyValueCache>& caches;  // [L]
  };
  /// Runs the decoder over input tokens [N]; the result is [N, D], ready for the head.
  Tensor decode(Context& context, std::span<const int32_t> input, const Memory& memory,
                const DecoderReads& reads) const;

  /// The whole decoder input at once, the future masked: [N, D].
  Tensor decode_all(Context& context, const Tokens& input, const Memory& memory) const;

  /// Logits [N, V] f32 of decoder outputs [N, D], for decoding. Throws Error when the context has a
  /// tape: training takes the fused loss().
  Tensor logits(Context& context, const Tensor& states) const;

  /// The loss of a batch (and, with a tape, the beginning of its backward pass); targets [Nt] are
  /// the decoder's input shifted left.
  ops::Loss loss(Context& context, const Tokens& source, const Tokens& decoder_input,
                 std::span<const int32_t> targets, kernels::CrossEntropyOptions options) const;

  /// Makes ready to compute in `dtype` (the bf16 copies of the weights). With `pack`, lays the
  /// weights out for inference; they must then not change until unpack().
  void prepare(DType dtype);
  /// Lays the weights out for inference in `dtype`; they must then not change until unpack().
  void pack(DType dtype);
  void unpack();

 private:
  Tensor embed(Context& context, std::span<const int32_t> ids,
               std::span<const int32_t> positions) const;
  Tensor final_norm(Context& context, const std::optional<nn::Norm>& norm, const Tensor& x) const;
  void check_lengths(std::string_view what, const std::vector<int32_t>& offsets) const;

  ModelConfig config_;
  mutable nn::Parameters parameters_;
  Parameter& embedding_;
  ops::PositionTable positions_;
  std::vector<nn::TransformerLayer> encoder_, decoder_;
  std::optional<nn::Norm> encoder_norm_, decoder_norm_;  // after the last layer of a pre-norm stack
  Parameter& head_bias_;
};

}  // namespace heed::model

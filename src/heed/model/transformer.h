#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heed/model/classifier.h"
#include "heed/model/config.h"
#include "heed/model/head.h"
#include "heed/model/stack.h"
#include "heed/ops/adapter.h"

namespace heed::model {

/// Token ids of sequences laid end to end: sequence b is [offsets[b], offsets[b + 1]).
struct Tokens {
  std::span<const int32_t> ids;         // [N]
  const std::vector<int32_t>& offsets;  // [B+1]
  std::span<const int32_t> types = {};  // [N], the segments of a pair; empty: all 0
  /// [B], of an encoder: the first so many tokens of a sequence are attended to, by all of its
  /// tokens; empty: all are.
  std::span<const int32_t> attended = {};
};

/// The encoder's output for a batch of sources, and the keys and values of it that each decoder
/// layer's cross-attention reads, computed once per source. Empty for a decoder-only model.
struct Memory {
  Tensor states;                          // [Ns, D]
  std::vector<int32_t> offsets;           // [B+1]
  std::vector<nn::KeysValues> per_layer;  // [L]
};

/// The Transformer of Vaswani et al. (2017) and its descendants by configuration: encoder and
/// decoder, or one of them alone. One forward pass serves training (the context has a tape),
/// validation and decoding. No pass changes the model: a tape adds gradients to the Gradients that
/// it was given, so that one model may serve several passes at a time.
class Transformer {
 public:
  /// With a seed, all parameters are initialised from it; without one they have only shapes until
  /// they are loaded. Throws Error when the configuration is not valid.
  explicit Transformer(ModelConfig config, std::optional<uint64_t> seed = 0)
      : Transformer(std::move(config), seed, nullptr) {}
  /// A part of a tensor-parallel model, for inference; `parts` may be null. The configuration is
  /// that of the whole. Throws Error, too, when the model cannot be divided so.
  Transformer(ModelConfig config, std::optional<uint64_t> seed,
              std::shared_ptr<const nn::TensorParallel> parts);

  const ModelConfig& config() const { return config_; }
  /// null: the model is whole.
  const nn::TensorParallel* parts() const { return parts_.get(); }
  nn::Parameters& parameters() { return parameters_; }
  const nn::Parameters& parameters() const { return parameters_; }

  /// Replaces the first sinusoids of a stack by rows [R, D] f32, those of a file that rounds them.
  void set_sinusoids(Stack::Kind kind, const Tensor& rows);

  /// Where the passes compute; null: on the host. Their results are there, too.
  Device* device() const { return device_; }
  /// From now on the passes compute there. Moves the values that there are, unless they are packed;
  /// weights are packed there. Throws Error for a part of a tensor-parallel model.
  void move_to(Device* device);
  /// Moves one parameter's value to the device, for those that get one later.
  void place(Parameter& parameter) const { parameter.value = parameter.value.to(device_); }

  bool has_encoder() const { return encoder_.has_value(); }
  bool has_decoder() const { return decoder_.has_value(); }

  /// Runs the encoder. Throws Error on a token outside the vocabulary, an empty sequence, or one
  /// longer than max_positions, and when there is no encoder.
  Memory encode(Context& context, const Tokens& source) const;
  /// The states of the encoder after its embeddings and after each layer, [N, D] each, before a
  /// last norm: `hidden_states` of post-norm models in transformers. Throws Error as encode() does.
  std::vector<Tensor> encoder_layer_states(Context& context, const Tokens& source) const;

  /// What a pass of the decoder reads beside its input.
  struct DecoderReads {
    std::span<const int32_t> positions;  // [N], of each input token in its sequence
    nn::SelfSpans own_spans;
    nn::Spans memory_spans;
    std::vector<nn::KeyValueCache>& caches;  // [L]
  };
  /// Runs the decoder over input tokens [N]; the result is [N, D], ready for the head. `memory` is
  /// empty for a decoder-only model. Throws Error on a token or position out of range, and when
  /// there is no decoder.
  Tensor decode(Context& context, std::span<const int32_t> input, const Memory& memory,
                const DecoderReads& reads) const;

  /// All of the decoder's input at once, with a causal mask: [N, D].
  Tensor decode_all(Context& context, const Tokens& input, const Memory& memory = {}) const;

  /// One cache for each decoder layer.
  std::vector<nn::KeyValueCache> make_caches(nn::KeyValueCache::Mode mode) const;

  /// The vocabulary head. Throws Error when the model has none.
  const Head& head() const;
  Tensor logits(Context& context, const Tensor& states) const;

  /// tanh(W x + b) of the first state of each sequence (BERT's pooler): [B, D]. Throws Error when
  /// the model has no pooler.
  Tensor pool(Context& context, const Tensor& states, const std::vector<int32_t>& offsets) const;

  /// The logits of the classifier's labels: [B, labels], or [N, labels] for token classification.
  /// Throws Error when the model has no classifier, and as encode() or decode_all() does.
  Tensor classify(Context& context, const Tokens& text) const;

  /// The loss of a batch of an encoder-decoder (and, with a tape, the beginning of its backward
  /// pass); targets [Nt] are the decoder's input shifted left.
  ops::Loss loss(Context& context, const Tokens& source, const Tokens& decoder_input,
                 std::span<const int32_t> targets, kernels::CrossEntropyOptions options) const;

  /// From now on these adapters apply, together, to every pass whose context names none. They must
  /// outlive the model or its next attach(). Throws Error as require_adaptable() does.
  void attach(std::vector<ScaledAdapter> adapters);
  std::span<const ScaledAdapter> attached() const { return attached_; }
  /// Throws Error, naming the weight, when an adapter updates one that is not multiplied by
  /// ops::linear: an embedding, the head, and the projection from latents to keys and values, which
  /// decoding reads head by head.
  void require_adaptable(const Adapter& adapter) const;

  /// Whether a parameter is a factor of products, not a vector or a lookup table.
  bool is_multiplied_with(const Parameter& parameter) const;

  /// Packs the weights of products for `compute`, unless they are packed already; their values must
  /// not change until unpack(). f32 packs f32 weights, bf16 packs f32 and bf16 weights, and int8
  /// packs weights in blocks, for kernels/matmul_blocks.h. In a model with an encoder, which reads
  /// many rows at once, int8 packs q8_0 weights with one scale per row, for kernels/matmul_int8.h.
  void pack(Compute compute);
  /// The same for some of the model's parameters.
  void pack(std::span<Parameter* const> parameters, Compute compute);
  /// Whether pack() packs a parameter whose value is of this dtype.
  bool packs(const Parameter& parameter, DType dtype, Compute compute) const;
  /// Throws Error when a packed weight's value was freed.
  void unpack();

 private:
  bool packs_int8(const Parameter& parameter) const;
  void use_attached(Context& context) const;
  Tensor run_encoder(Context& context, const Tokens& source, std::vector<Tensor>* layers) const;
  void check_lengths(std::string_view what, const std::vector<int32_t>& offsets) const;

  ModelConfig config_;
  Device* device_ = nullptr;
  std::shared_ptr<const nn::TensorParallel> parts_;  // null: the model is whole
  nn::Parameters parameters_;
  const Parameter& embedding_;         // of the decoder, and of an encoder without its own
  const Parameter* source_embedding_;  // null: the encoder has no embedding of its own
  std::optional<Stack> encoder_, decoder_;
  std::optional<Head> head_;
  std::optional<nn::Linear> pooler_;
  std::optional<Classifier> classifier_;
  std::vector<ScaledAdapter> attached_;
  std::vector<AdaptedRows> attached_rows_;  // all of them, or none
};

}  // namespace heed::model

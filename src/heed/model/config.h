#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heed/kernels/activation.h"
#include "heed/model/classifier_config.h"
#include "heed/nn/norm.h"
#include "heed/nn/positions.h"
#include "heed/nn/rotary.h"
#include "heed/nn/transformer_layer.h"

namespace heed::model {

enum class PositionKind {
  none,
  sinusoidal,  // added to the embeddings (Vaswani et al. 2017)
  learned,     // a table added to the embeddings (BERT, GPT-2)
  rotary,      // queries and keys are rotated (Su et al. 2021)
  relative,    // a learned bias per head and distance is added to scores (Raffel et al. 2020)
  alibi        // a slope per head times the distance is subtracted from scores (Press et al. 2022)
};

/// The largest number of layers of a stack.
inline constexpr int64_t kMaxLayers = 4096;

/// Everything that distinguishes one Transformer from another. A family (model/families/) reads it
/// from its config.json and writes it there.
struct ModelConfig {
  /// The family whose files describe it: a model_type such as "llama". Empty: the first that can
  /// express the configuration.
  std::string family;

  int64_t vocab_size = 0;  // V
  /// Rows of an embedding of the encoder's own, for the tokens of sources; 0: the encoder has the
  /// decoder's embedding and vocabulary.
  int64_t encoder_vocab_size = 0;
  int64_t d_model = 512;  // D
  /// Without encoder layers the model is decoder-only (GPT, Llama), without decoder layers
  /// encoder-only (BERT).
  int64_t encoder_layers = 6, decoder_layers = 6;
  int64_t n_heads = 8;     // H
  int64_t n_kv_heads = 0;  // G; 0: n_heads
  int64_t head_dim = 0;    // d; 0: d_model / n_heads
  int64_t v_head_dim = 0;  // d_v; 0: head_dim
  int64_t d_ff = 2048;     // F
  /// The width of the vectors of tokens, positions and segments of an encoder, which a linear map
  /// takes to d_model (ALBERT, ELECTRA); 0: d_model, without that map.
  int64_t embedding_size = 0;
  /// The encoder's layers are so many consecutive groups that share their weights (ALBERT); 0: each
  /// layer has weights of its own.
  int64_t layer_groups = 0;
  /// Where the encoder differs from the decoder; 0: as the decoder. Its heads share d_model.
  int64_t encoder_heads = 0, encoder_d_ff = 0;

  kernels::Activation activation = kernels::Activation::relu;
  bool gated = false;
  nn::NormKind norm = nn::NormKind::layer;
  nn::NormPlacement norm_placement = nn::NormPlacement::post;
  float norm_epsilon = 1e-5f;
  bool norm_unit_offset = false;  // RMSNorm scales by 1 + weight (Gemma)
  bool norm_bias = true;          // LayerNorm adds a bias
  bool first_attn_norm = true;    // false: the first layer's attention has no norm (ModernBERT)
  bool qkv_bias = true;           // of the projections to queries, keys and values
  bool o_bias = true;             // of the output projection
  bool ff_bias = true;            // of the feed-forward network
  bool ff_up_bias = true;         // false: without those of its projections up and of its gates

  float attention_scale = 0.0f;                  // of the scores; 0: 1 / sqrt(head_dim)
  bool scale_attn_by_inverse_layer_idx = false;  // layer l divides it by l + 1 (GPT-2)
  float attn_logit_softcapping = 0.0f;           // scores become cap tanh(score / cap); 0: no cap
  bool qk_norm = false;                          // RMSNorm of every head's query and key
  bool qk_norm_across_heads = false;             // one such norm over all heads (OLMo 2)
  bool attention_sinks = false;      // a learned score of each head that no key has (gpt-oss)
  bool parallel_residual = false;    // both sub-layers read the layer's input (GPT-NeoX)
  float residual_multiplier = 1.0f;  // of each sub-layer's output, before the sum (Granite)
  /// For each layer of the decoder, or of the encoder of an encoder-only model: how many of the
  /// latest tokens a token sees, itself included, and in an encoder as many of the next ones; 0:
  /// all. Empty: all in every layer.
  std::vector<int64_t> windows;
  nn::LatentDims latent;              // multi-head latent attention, where kv_lora_rank is given
  nn::MoeConfig moe;                  // mixtures of experts, where n_experts is given
  int64_t first_k_dense_replace = 0;  // dense layers before the first mixture of experts
  /// Above 1, of so many layers only the second is a mixture of experts (nomic-embed-text-v2).
  int64_t moe_every_n_layers = 1;

  PositionKind positions = PositionKind::sinusoidal;
  kernels::PairLayout pair_layout =
      kernels::PairLayout::halves;  // of sinusoids and of rotary pairs
  int64_t max_positions = 1024;     // longest sequence
  int64_t first_position = 0;       // of a sequence: a row of the learned table, or of sinusoids
  /// Padding tokens of the encoder's input have the position before the first, and those after them
  /// do not count them (RoBERTa, M2M-100).
  bool skips_padding = false;
  /// The sinusoids' frequencies are 10000^(-i / (D/2 - 1)) instead of 10000^(-2i / D) (fairseq).
  bool fairseq_sinusoids = false;
  double rotary_theta = 10000.0;
  double rotary_local_theta = 0.0;  // of layers with a window, unscaled (Gemma 3); 0: rotary_theta
  int64_t rotary_dim = 0;           // the first columns of a head, which are rotated; 0: head_dim
  /// For each decoder layer, 1: rotary positions, 0: none (SmolLM3). Empty: 1 in every layer.
  std::vector<int64_t> rotary_layers;
  nn::RotaryScaling rotary_scaling;
  /// Relative biases besides positions of another kind (MPNet).
  bool relative_attention_bias = false;
  /// Disentangled attention besides positions of another kind or none (DeBERTa).
  nn::DisentangledConfig disentangled;
  int64_t relative_num_buckets = 32, relative_max_distance = 128;

  bool scale_embedding = true;        // by sqrt(d_model)
  float embedding_multiplier = 1.0f;  // and by this (Granite)
  bool embedding_norm = false;        // a norm after the embeddings (BERT, BART)
  int64_t type_vocab_size = 0;        // rows of the segment table; the first is added (BERT)

  bool tied_head = true;                 // the vocabulary projection is the embedding
  bool head_bias = true;                 // added to the logits
  bool head_transform = false;           // dense, activation, norm before the projection (BERT)
  bool head_transform_bias = true;       // of its dense layer
  float head_scale = 1.0f;               // of the states that the head reads (T5)
  float final_logit_softcapping = 0.0f;  // logits become cap tanh(logit / cap); 0: no cap
  bool has_head = true;                  // false: no vocabulary projection
  bool pooler = false;                   // dense and tanh over the first token (BERT)
  ClassifierConfig classifier;           // to labels, in place of the vocabulary projection

  float dropout = 0.1f;
  float attention_dropout = 0.0f;
  float activation_dropout = 0.0f;

  int32_t pad_id = 0;
  int32_t bos_id = -1;                 // -1: none
  int32_t eos_id = 1;                  // -1: none
  std::vector<int64_t> other_eos_ids;  // more tokens that end a text (Llama 3's <|eot_id|>)
  int32_t decoder_start_id = 0;        // the decoder's first input token (encoder-decoders)

  /// What the file says that has no effect, one sentence for each: "FILE: KEY is VALUE and is
  /// ignored: WHY". Written to no file.
  std::vector<std::string> warnings;

  /// Replaces zeros by the defaults that they stand for. Throws Error on impossible sizes, such as
  /// a width that n_heads does not divide, a width of zero, or a special token outside the
  /// vocabulary.
  void validate();

  /// Sets max_positions where rotary positions are scaled. Where the frequencies depend on it
  /// (RotaryScaling), families read it as the original longest sequence. Throws Error with other
  /// positions, and on more tokens than the scaling is made for, or fewer than the original ones
  /// where the frequencies depend on it.
  void set_context(int64_t tokens);

  /// The tokens that the encoder reads.
  int64_t source_vocab_size() const {
    return encoder_vocab_size > 0 ? encoder_vocab_size : vocab_size;
  }

  /// The tokens that end a text: eos_id and other_eos_ids.
  std::vector<int32_t> eos_ids() const;

  /// The layers that `windows` and `rotary_layers` describe.
  int64_t described_layers() const { return decoder_layers > 0 ? decoder_layers : encoder_layers; }
  /// Whether there is a table of relative biases (T5, MPNet).
  bool has_relative_table() const {
    return positions == PositionKind::relative || relative_attention_bias;
  }
  /// Whether anything that is added to scores depends on the distance of two tokens.
  bool has_relative_bias() const {
    return has_relative_table() || positions == PositionKind::alibi || disentangled.present();
  }
  /// Whether a text may have at most max_positions tokens.
  bool limits_length() const { return positions != PositionKind::none || disentangled.present(); }
  /// The width of the token embedding.
  int64_t embedding_width() const { return embedding_size > 0 ? embedding_size : d_model; }

  bool operator==(const ModelConfig&) const = default;
};

/// "none", "sinusoidal", "learned", "rotary", "relative" or "alibi".
std::string_view name_of(PositionKind kind);

}  // namespace heed::model

#pragma once

#include <span>

#include "heed/model/config.h"

namespace heed::model {

/// All values of an enum of ModelConfig, to find one by its name_of().
template <typename Enum>
std::span<const Enum> values_of();

/// Calls visit(name, member, help) for every field of a configuration (const or not) that describes
/// how a model is built: the one list behind heed's own config.json and training options.
template <typename Config, typename Visit>
void visit_fields(Config& c, Visit&& visit) {
  visit("family", c.family, "whose files to write, such as llama; empty: the first that can");
  visit("d_model", c.d_model, "width of the residual stream, D");
  visit("encoder_layers", c.encoder_layers, "L of the encoder; 0: a decoder alone");
  visit("decoder_layers", c.decoder_layers, "L of the decoder; 0: an encoder alone");
  visit("num_attention_heads", c.n_heads, "query heads, H");
  visit("num_key_value_heads", c.n_kv_heads,
        "key/value heads, G; 0: as many as num_attention_heads");
  visit("head_dim", c.head_dim, "width of a query and a key; 0: d_model / num_attention_heads");
  visit("v_head_dim", c.v_head_dim, "width of a value; 0: head_dim");
  visit("d_ff", c.d_ff, "width of the feed-forward network, F");
  visit("encoder_attention_heads", c.encoder_heads, "H of the encoder; 0: num_attention_heads");
  visit("encoder_ffn_dim", c.encoder_d_ff, "F of the encoder; 0: d_ff");
  visit("hidden_act", c.activation, "of the feed-forward network");
  visit("is_gated_act", c.gated, "a gated feed-forward network");
  visit("norm", c.norm, "LayerNorm or RMSNorm");
  visit("norm_placement", c.norm_placement, "post (the paper), pre, or both (Gemma 2)");
  visit("norm_eps", c.norm_epsilon, "keeps a norm from dividing by zero");
  visit("norm_unit_offset", c.norm_unit_offset, "RMSNorm scales by 1 + weight (Gemma)");
  visit("qkv_bias", c.qkv_bias, "biases of queries, keys and values");
  visit("o_bias", c.o_bias, "the bias of the projection behind the heads");
  visit("mlp_bias", c.ff_bias, "biases of the feed-forward network");
  visit("attention_scale", c.attention_scale, "of the scores; 0: 1 / sqrt(head_dim)");
  visit("attn_logit_softcapping", c.attn_logit_softcapping, "bounds the scores; 0: none");
  visit("use_qk_norm", c.qk_norm, "RMSNorm of every head's query and key");
  visit("windows", c.windows, "tokens back that each decoder layer sees; 0: all; none: all in all");
  visit("kv_lora_rank", c.latent.kv_lora_rank, "of latent attention's keys and values; 0: none");
  visit("q_lora_rank", c.latent.q_lora_rank, "of its queries; 0: projected directly");
  visit("qk_rope_head_dim", c.latent.qk_rope_head_dim, "the part of head_dim that it rotates");
  visit("n_routed_experts", c.moe.n_experts, "feed-forward networks of a mixture; 0: no mixture");
  visit("num_experts_per_tok", c.moe.experts_per_token, "that a token goes to");
  visit("n_shared_experts", c.moe.n_shared_experts, "that every token goes to");
  visit("moe_intermediate_size", c.moe.d_expert, "width of each");
  visit("routed_scaling_factor", c.moe.routed_scaling_factor, "of the selected experts' weights");
  visit("norm_topk_prob", c.moe.norm_topk_prob, "these weights sum to 1");
  visit("n_group", c.moe.n_group, "groups of experts");
  visit("topk_group", c.moe.topk_group, "that a token's experts are selected from");
  visit("first_k_dense_replace", c.first_k_dense_replace, "layers before the first mixture");
  visit("position_embedding_type", c.positions, "how the order of tokens is told");
  visit("pair_layout", c.pair_layout, "of sinusoids and rotary pairs");
  visit("max_position_embeddings", c.max_positions, "longest sequence in tokens");
  visit("first_position", c.first_position, "row of the learned table for the first token");
  visit("rope_theta", c.rotary_theta, "base of the rotary wavelengths");
  visit("rope_type", c.rotary_scaling.kind, "none, linear, llama3 or yarn");
  visit("rope_factor", c.rotary_scaling.factor, "how many times longer sequences become");
  visit("rope_original_max_position_embeddings", c.rotary_scaling.original_max_positions,
        "longest before");
  visit("rope_low_freq_factor", c.rotary_scaling.low_freq_factor, "llama3");
  visit("rope_high_freq_factor", c.rotary_scaling.high_freq_factor, "llama3");
  visit("rope_beta_fast", c.rotary_scaling.beta_fast, "yarn");
  visit("rope_beta_slow", c.rotary_scaling.beta_slow, "yarn");
  visit("rope_mscale", c.rotary_scaling.mscale, "yarn");
  visit("rope_mscale_all_dim", c.rotary_scaling.mscale_all_dim, "yarn");
  visit("rope_attention_factor", c.rotary_scaling.attention_factor, "yarn; 0: computed");
  visit("rope_truncate", c.rotary_scaling.truncate, "yarn: to whole columns");
  visit("relative_attention_num_buckets", c.relative_num_buckets, "of distances");
  visit("relative_attention_max_distance", c.relative_max_distance,
        "beyond which all share a bucket");
  visit("scale_embedding", c.scale_embedding, "by sqrt(d_model)");
  visit("normalize_embedding", c.embedding_norm, "a norm behind the embeddings");
  visit("type_vocab_size", c.type_vocab_size, "rows of a table of segments (BERT)");
  visit("tie_word_embeddings", c.tied_head, "the vocabulary projection is the embedding");
  visit("head_bias", c.head_bias, "a bias of the logits");
  visit("head_transform", c.head_transform, "dense, activation and norm before the logits (BERT)");
  visit("head_scale", c.head_scale, "of the states that the head reads (T5)");
  visit("final_logit_softcapping", c.final_logit_softcapping, "bounds the logits; 0: none");
  visit("has_head", c.has_head, "false: no logits, states alone");
  visit("pooler", c.pooler, "dense and tanh over the first token (BERT)");
  visit("dropout", c.dropout, "of embeddings and of each sub-layer's output");
  visit("attention_dropout", c.attention_dropout, "of the attention weights");
  visit("activation_dropout", c.activation_dropout, "of hidden units of feed-forward networks");
}

/// The same for the fields that the vocabulary determines.
template <typename Config, typename Visit>
void visit_vocabulary_fields(Config& c, Visit&& visit) {
  visit("vocab_size", c.vocab_size, "V");
  visit("pad_token_id", c.pad_id, "-1: none");
  visit("bos_token_id", c.bos_id, "-1: none");
  visit("eos_token_id", c.eos_id, "-1: none");
  visit("other_eos_token_ids", c.other_eos_ids, "more tokens that end a text");
  visit("decoder_start_token_id", c.decoder_start_id, "-1: none");
}

}  // namespace heed::model

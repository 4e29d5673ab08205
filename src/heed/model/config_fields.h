#pragma once

#include <span>

#include "heed/model/config.h"

namespace heed::model {

/// All values of an enum of ModelConfig, to find one by its name_of().
template <typename Enum>
std::span<const Enum> values_of();

/// The fields of visit_fields() that describe positions.
template <typename Config, typename Visit>
void visit_position_fields(Config& c, Visit&& visit) {
  visit("position_embedding_type", c.positions, "kind of the position embeddings");
  visit("pair_layout", c.pair_layout, "layout of sinusoids and rotary pairs");
  visit("max_position_embeddings", c.max_positions, "longest sequence in tokens");
  visit("first_position", c.first_position, "position of the first token");
  visit("skips_padding", c.skips_padding, "padding tokens have the position before the first");
  visit("fairseq_sinusoids", c.fairseq_sinusoids,
        "sinusoids of the frequencies 10000^(-i / (D/2 - 1))");
  visit("rope_theta", c.rotary_theta, "base of the rotary wavelengths");
  visit("rope_local_base_freq", c.rotary_local_theta,
        "the base in layers with a window; 0: rope_theta");
  visit("rotary_dim", c.rotary_dim, "rotated columns of a head; 0: all");
  visit("rope_layers", c.rotary_layers,
        "1 for each layer with rotary positions, 0 for one without; empty: all");
  visit("rope_type", c.rotary_scaling.kind, "scaling of the rotary positions for longer sequences");
  visit("rope_factor", c.rotary_scaling.factor, "factor by which the scaling lengthens sequences");
  visit("rope_original_max_position_embeddings", c.rotary_scaling.original_max_positions,
        "longest sequence before scaling");
  visit("rope_low_freq_factor", c.rotary_scaling.low_freq_factor,
        "llama3: wavelengths above the original length divided by this are scaled");
  visit("rope_high_freq_factor", c.rotary_scaling.high_freq_factor,
        "llama3: wavelengths below the original length divided by this are kept");
  visit("rope_beta_fast", c.rotary_scaling.beta_fast,
        "yarn: pairs that rotate more often than this in the original length are kept");
  visit("rope_beta_slow", c.rotary_scaling.beta_slow,
        "yarn: pairs that rotate less often than this in the original length are scaled");
  visit("rope_mscale", c.rotary_scaling.mscale, "yarn");
  visit("rope_mscale_all_dim", c.rotary_scaling.mscale_all_dim, "yarn");
  visit("rope_attention_factor", c.rotary_scaling.attention_factor, "yarn, longrope; 0: computed");
  visit("rope_short_factor", c.rotary_scaling.short_factor,
        "longrope: divisors of the frequencies up to the original longest sequence");
  visit("rope_long_factor", c.rotary_scaling.long_factor, "longrope: the same beyond it");
  visit("rope_truncate", c.rotary_scaling.truncate,
        "yarn: round the correction range to whole dimensions");
  visit("relative_attention_bias", c.relative_attention_bias,
        "relative biases besides positions of another kind (MPNet)");
  visit("disentangled_c2p", c.disentangled.c2p,
        "scores of queries with vectors of distances (DeBERTa)");
  visit("disentangled_p2c", c.disentangled.p2c, "scores of keys with vectors of distances");
  visit("position_buckets", c.disentangled.buckets,
        "distances that share vectors logarithmically; 0: each has its own");
  visit("max_relative_positions", c.disentangled.max_distance,
        "distance beyond which all share a vector");
  visit("share_att_key", c.disentangled.shared_projections,
        "contents and distances have the same projections");
  visit("norm_rel_ebd", c.disentangled.norm, "LayerNorm of the vectors of distances");
  visit("relative_attention_num_buckets", c.relative_num_buckets, "buckets of distances");
  visit("relative_attention_max_distance", c.relative_max_distance,
        "distance beyond which all share a bucket");
}

/// Those that describe mixtures of experts.
template <typename Config, typename Visit>
void visit_mixture_fields(Config& c, Visit&& visit) {
  visit("n_routed_experts", c.moe.n_experts, "experts per layer; 0: no mixture of experts");
  visit("num_experts_per_tok", c.moe.experts_per_token, "experts that each token is routed to");
  visit("n_shared_experts", c.moe.n_shared_experts, "experts that every token goes to");
  visit("moe_intermediate_size", c.moe.d_expert, "width of each expert");
  visit("routed_scaling_factor", c.moe.routed_scaling_factor,
        "factor of the selected experts' weights");
  visit("norm_topk_prob", c.moe.norm_topk_prob, "make these weights sum to 1");
  visit("scoring_func", c.moe.scoring, "how the router's scores become probabilities");
  visit("router_bias", c.moe.router_bias, "a bias of these scores");
  visit("n_group", c.moe.n_group, "groups of experts");
  visit("topk_group", c.moe.topk_group, "groups that a token's experts are selected from");
  visit("first_k_dense_replace", c.first_k_dense_replace,
        "dense layers before the first mixture of experts");
  visit("moe_every_n_layers", c.moe_every_n_layers,
        "above 1, of so many layers only the second is a mixture of experts");
  visit("moe_output_bias", c.moe.output_bias, "a bias of a mixture's output");
}

/// Those of the scores of attention.
template <typename Config, typename Visit>
void visit_attention_fields(Config& c, Visit&& visit) {
  visit("attention_scale", c.attention_scale,
        "factor of the attention scores; 0: 1 / sqrt(head_dim)");
  visit("scale_attn_by_inverse_layer_idx", c.scale_attn_by_inverse_layer_idx,
        "divide it by the number of the layer, from 1");
  visit("attn_logit_softcapping", c.attn_logit_softcapping,
        "soft cap of the attention scores; 0: none");
  visit("use_qk_norm", c.qk_norm, "RMSNorm of every head's query and key");
  visit("qk_norm_across_heads", c.qk_norm_across_heads, "one such norm over all heads (OLMo 2)");
  visit("attention_sinks", c.attention_sinks,
        "a learned score of each head that no key has (gpt-oss)");
}

/// Calls visit(name, member, help) for every field of a configuration (const or not) that describes
/// how a model is built: the one list behind heed's own config.json and training options.
template <typename Config, typename Visit>
void visit_fields(Config& c, Visit&& visit) {
  visit("family", c.family,
        "model_type of the files to write, such as llama; empty: the first family that fits");
  visit("d_model", c.d_model, "width of the residual stream, D");
  visit("encoder_layers", c.encoder_layers, "encoder layers; 0: decoder-only");
  visit("decoder_layers", c.decoder_layers, "decoder layers; 0: encoder-only");
  visit("num_attention_heads", c.n_heads, "query heads, H");
  visit("num_key_value_heads", c.n_kv_heads,
        "key/value heads, G; 0: as many as num_attention_heads");
  visit("head_dim", c.head_dim, "width of a query and a key; 0: d_model / num_attention_heads");
  visit("v_head_dim", c.v_head_dim, "width of a value; 0: head_dim");
  visit("d_ff", c.d_ff, "width of the feed-forward network, F");
  visit("embedding_size", c.embedding_size,
        "width of the embeddings, which a linear map takes to d_model; 0: d_model");
  visit("num_hidden_groups", c.layer_groups,
        "groups of encoder layers that share their weights (ALBERT); 0: none share");
  visit("encoder_attention_heads", c.encoder_heads, "H of the encoder; 0: num_attention_heads");
  visit("encoder_ffn_dim", c.encoder_d_ff, "F of the encoder; 0: d_ff");
  visit("hidden_act", c.activation, "activation of the feed-forward network");
  visit("is_gated_act", c.gated, "a gated feed-forward network");
  visit("norm", c.norm, "kind of the norms");
  visit("norm_placement", c.norm_placement,
        "norms of each sub-layer; the paper has post, Gemma 2 both, OLMo 2 output");
  visit("norm_eps", c.norm_epsilon, "epsilon of the norms");
  visit("norm_unit_offset", c.norm_unit_offset, "RMSNorm scales by 1 + weight (Gemma)");
  visit("norm_bias", c.norm_bias, "biases of the norms, where they are LayerNorm");
  visit("first_attn_norm", c.first_attn_norm,
        "a norm before the attention of the first layer (ModernBERT has none)");
  visit("qkv_bias", c.qkv_bias, "biases of the query, key and value projections");
  visit("o_bias", c.o_bias, "bias of the attention output projection");
  visit("mlp_bias", c.ff_bias, "biases of the feed-forward network");
  visit("mlp_up_bias", c.ff_up_bias, "false: without those of its projections up and of its gates");
  visit_attention_fields(c, visit);
  visit("use_parallel_residual", c.parallel_residual,
        "attention and feed-forward network read the same input (GPT-NeoX)");
  visit("residual_multiplier", c.residual_multiplier,
        "factor of each sub-layer's output before the sum (Granite)");
  visit(
      "windows", c.windows,
      "attention window of each layer in tokens, in an encoder to both sides; 0: no limit; empty: "
      "none");
  visit("kv_lora_rank", c.latent.kv_lora_rank,
        "latent width of keys and values (MLA); 0: no latent attention");
  visit("q_lora_rank", c.latent.q_lora_rank,
        "latent width of queries (MLA); 0: projected directly");
  visit("qk_rope_head_dim", c.latent.qk_rope_head_dim, "the rotated part of head_dim (MLA)");
  visit_mixture_fields(c, visit);
  visit_position_fields(c, visit);
  visit("scale_embedding", c.scale_embedding, "scale embeddings by sqrt(d_model)");
  visit("embedding_multiplier", c.embedding_multiplier, "and by this factor (Granite)");
  visit("normalize_embedding", c.embedding_norm, "a norm after the embeddings");
  visit("type_vocab_size", c.type_vocab_size, "rows of the segment table (BERT)");
  visit("tie_word_embeddings", c.tied_head, "the vocabulary projection is the embedding");
  visit("head_bias", c.head_bias, "a bias of the logits");
  visit("head_transform", c.head_transform, "dense, activation and norm before the logits (BERT)");
  visit("head_transform_bias", c.head_transform_bias, "a bias of this dense layer");
  visit("head_scale", c.head_scale, "factor of the head's input (T5)");
  visit("final_logit_softcapping", c.final_logit_softcapping, "soft cap of the logits; 0: none");
  visit("has_head", c.has_head, "false: no vocabulary head");
  visit("pooler", c.pooler, "dense and tanh over the first token (BERT)");
  visit("dropout", c.dropout, "dropout of embeddings and of each sub-layer's output");
  visit("attention_dropout", c.attention_dropout, "dropout of the attention weights");
  visit("activation_dropout", c.activation_dropout,
        "dropout of the hidden units of feed-forward networks");
}

/// The same for the fields of a classifier, which no training task makes.
template <typename Config, typename Visit>
void visit_classifier_fields(Config& c, Visit&& visit) {
  visit("classifier", c.classifier.kind, "what gets labels");
  visit("classifier_pooling", c.classifier.pooling, "the state that a text's labels are read from");
  visit("classifier_transform", c.classifier.transform, "dense and activation before the labels");
  visit("classifier_transform_bias", c.classifier.transform_bias, "a bias of this dense layer");
  visit("classifier_transform_norm", c.classifier.transform_norm, "a norm after them");
  visit("classifier_activation", c.classifier.activation, "this activation");
  visit("classifier_bias", c.classifier.bias, "a bias of the logits");
  visit("problem_type", c.classifier.problem, "what the logits mean");
  visit("labels", c.classifier.labels, "their names");
  visit("classifier_sigmoid_score", c.classifier.sigmoid_score,
        "the score of a pair is the sigmoid of its logit");
}

/// The same for the fields that the vocabulary determines.
template <typename Config, typename Visit>
void visit_vocabulary_fields(Config& c, Visit&& visit) {
  visit("vocab_size", c.vocab_size, "V");
  visit("encoder_vocab_size", c.encoder_vocab_size,
        "V of an embedding of the encoder's own; 0: it has the decoder's");
  visit("pad_token_id", c.pad_id, "-1: none");
  visit("bos_token_id", c.bos_id, "-1: none");
  visit("eos_token_id", c.eos_id, "-1: none");
  visit("other_eos_token_ids", c.other_eos_ids, "more tokens that end a text");
  visit("decoder_start_token_id", c.decoder_start_id, "-1: none");
}

}  // namespace heed::model

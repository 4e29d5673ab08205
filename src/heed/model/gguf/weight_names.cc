#include "heed/model/gguf/weight_names.h"

#include <charconv>

namespace heed::model {
namespace {

std::string decoder_name(const std::string& name) {
  return renamed(name, {{"model.encoder.", "model.decoder."},
                        {"model.shared.", "token_embd."},
                        {"model.decoder.embed_positions.", "position_embd."},
                        {"model.decoder.layer_norm.", "output_norm."},
                        {"lm_head.", "output."},
                        {"model.decoder.layers.", "blk."},
                        {".self_attn_layer_norm.", ".attn_norm."},
                        {".self_attn_post_layer_norm.", ".post_attention_norm."},
                        {".final_layer_norm.", ".ffn_norm."},
                        {".final_post_layer_norm.", ".post_ffw_norm."},
                        {".self_attn.", ".attn_"},
                        {".attn_sinks", ".attn_sinks.weight"},
                        {"kv_a_proj.", "kv_a_mqa."},
                        {"o_proj.", "output."},
                        {"_proj.", "."},
                        {".router.e_score_correction_bias", ".exp_probs_b.bias"},
                        {".router.", ".ffn_gate_inp."},
                        {".shared_experts.gate.", ".ffn_gate_shexp."},
                        {".shared_experts.up.", ".ffn_up_shexp."},
                        {".shared_experts.down.", ".ffn_down_shexp."},
                        {".gate.", ".ffn_gate."},
                        {".up.", ".ffn_up."},
                        {".down.", ".ffn_down."},
                        {".fc1.", ".ffn_up."},
                        {".fc2.", ".ffn_down."}});
}

/// blk.1.experts.7.ffn_up.weight is the eighth part of blk.1.ffn_up_exps.weight.
StoredWeight expert_weight(const ModelConfig& config, const std::string& name, const Shape& shape) {
  constexpr std::string_view kExperts = ".experts.";
  const size_t begin = name.find(kExperts), number = begin + kExperts.size();
  int64_t expert = 0;
  std::from_chars(name.data() + number, name.data() + name.size(), expert);
  Shape all{config.moe.n_experts, shape[0]};
  if (shape.rank() == 2) all = {config.moe.n_experts, shape[0], shape[1]};
  const size_t matrix = name.find('.', number), end = name.find('.', matrix + 1);
  return {.name = name.substr(0, begin) + name.substr(matrix, end - matrix) + "_exps" +
                  name.substr(end),
          .shape = all,
          .first_row = expert * shape[0]};
}

/// The converter stores q, k and v as one matrix.
StoredWeight fused_qkv(const StoredWeight& weight, const ModelConfig& c) {
  const int64_t q = c.n_heads * c.head_dim, k = c.n_kv_heads * c.head_dim;
  const int64_t v = c.n_kv_heads * c.v_head_dim;
  return fused(weight, {{".attn_q.", ".attn_qkv.", 0, q + k + v},
                        {".attn_k.", ".attn_qkv.", q, q + k + v},
                        {".attn_v.", ".attn_qkv.", q + k, q + k + v}});
}

/// The converter stores the gate and the up projection as one matrix.
StoredWeight fused_gate_up(const StoredWeight& weight, const ModelConfig& c) {
  return fused(weight, {{".ffn_gate.", ".ffn_up.", 0, 2 * c.d_ff},
                        {".ffn_up.", ".ffn_up.", c.d_ff, 2 * c.d_ff}});
}

}  // namespace

StoredWeight gguf_decoder_weight(const ModelConfig& config, const std::string& name,
                                 const Shape& shape) {
  const std::string own = decoder_name(name);
  if (own.find(".experts.") != std::string::npos) return expert_weight(config, own, shape);
  return {.name = own, .shape = shape};
}

StoredWeight gguf_fused_decoder_weight(const ModelConfig& c, const std::string& name,
                                       const Shape& shape) {
  const StoredWeight weight = fused_qkv(gguf_decoder_weight(c, name, shape), c);
  return c.gated ? fused_gate_up(weight, c) : weight;
}

StoredWeight gguf_encoder_weight(const ModelConfig& c, const std::string& name,
                                 const Shape& shape) {
  const bool post = c.norm_placement == nn::NormPlacement::post;
  const std::string own =
      renamed(name, {{"classifier.dense.", "cls."},
                     {"classifier.layer_norm.", "cls.norm."},
                     {"classifier.out_proj.", "cls.output."},
                     {"model.shared.", "token_embd."},
                     {"model.encoder.embed_positions.", "position_embd."},
                     {"model.encoder.embed_types.", "token_types."},
                     {"model.encoder.layernorm_embedding.", "token_embd_norm."},
                     {"model.encoder.layer_norm.", "output_norm."},
                     {"model.encoder.layers.", "blk."},
                     {".self_attn_layer_norm.", post ? ".attn_output_norm." : ".attn_norm."},
                     {".final_layer_norm.", post ? ".layer_output_norm." : ".ffn_norm."},
                     {".self_attn.o_proj.", ".attn_output."},
                     {".self_attn.", ".attn_"},
                     {"_proj.", "."},
                     {".fc1.", ".ffn_up."},
                     {".fc2.", ".ffn_down."},
                     {".gate.", ".ffn_gate."},
                     {".up.", ".ffn_up."},
                     {".down.", ".ffn_down."}});
  if (c.positions != PositionKind::rotary) return {.name = own, .shape = shape};
  const StoredWeight weight = fused_qkv({.name = own, .shape = shape}, c);
  return post ? weight : fused_gate_up(weight, c);
}

}  // namespace heed::model

#include "heed/model/renamed_fields.h"

#include "heed/base/renamed.h"

namespace heed::model {
namespace {

constexpr Renamed kFields[] = {
    {"n_heads", "num_attention_heads"},
    {"n_kv_heads", "num_key_value_heads"},
    {"d_head", "head_dim"},
    {"d_value", "v_head_dim"},
    {"encoder_heads", "encoder_attention_heads"},
    {"encoder_d_ff", "encoder_ffn_dim"},
    {"activation", "hidden_act"},
    {"gated", "is_gated_act"},
    {"norm_epsilon", "norm_eps"},
    {"ff_bias", "mlp_bias"},
    {"attention_soft_cap", "attn_logit_softcapping"},
    {"qk_norm", "use_qk_norm"},
    {"latent_rank", "kv_lora_rank"},
    {"latent_query_rank", "q_lora_rank"},
    {"latent_rotary", "qk_rope_head_dim"},
    {"experts", "n_routed_experts"},
    {"experts_chosen", "num_experts_per_tok"},
    {"experts_shared", "n_shared_experts"},
    {"d_expert", "moe_intermediate_size"},
    {"expert_scale", "routed_scaling_factor"},
    {"expert_weights_normalized", "norm_topk_prob"},
    {"expert_groups", "n_group"},
    {"expert_groups_chosen", "topk_group"},
    {"dense_layers", "first_k_dense_replace"},
    {"positions", "position_embedding_type"},
    {"max_positions", "max_position_embeddings"},
    {"rotary_theta", "rope_theta"},
    {"rotary_scaling", "rope_type"},
    {"rotary_factor", "rope_factor"},
    {"rotary_original_positions", "rope_original_max_position_embeddings"},
    {"rotary_low_freq_factor", "rope_low_freq_factor"},
    {"rotary_high_freq_factor", "rope_high_freq_factor"},
    {"rotary_beta_fast", "rope_beta_fast"},
    {"rotary_beta_slow", "rope_beta_slow"},
    {"rotary_mscale", "rope_mscale"},
    {"rotary_mscale_all_dim", "rope_mscale_all_dim"},
    {"rotary_attention_factor", "rope_attention_factor"},
    {"rotary_truncate", "rope_truncate"},
    {"relative_buckets", "relative_attention_num_buckets"},
    {"relative_distance", "relative_attention_max_distance"},
    {"embedding_norm", "normalize_embedding"},
    {"token_types", "type_vocab_size"},
    {"tied_head", "tie_word_embeddings"},
    {"logit_soft_cap", "final_logit_softcapping"},
};

}  // namespace

std::string_view former_name(std::string_view field) { return former_of(field, kFields); }
std::string_view current_name(std::string_view former) { return current_of(former, kFields); }

}  // namespace heed::model

// What the config.json files of published encoders say is understood: none gives a warning.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "heed/model/families/family.h"

namespace heed::model {
namespace {

struct Published {
  const char* name;
  const char* config;
};

constexpr Published kPublished[] = {
    {"google/electra-small-discriminator",
     R"({"architectures": ["ElectraForPreTraining"], "attention_probs_dropout_prob": 0.1,
         "embedding_size": 128, "hidden_act": "gelu", "hidden_dropout_prob": 0.1, "hidden_size": 256,
         "initializer_range": 0.02, "intermediate_size": 1024, "layer_norm_eps": 1e-12,
         "max_position_embeddings": 512, "model_type": "electra", "num_attention_heads": 4,
         "num_hidden_layers": 12, "type_vocab_size": 2, "vocab_size": 30522, "generator_size": "0.25",
         "pad_token_id": 0, "position_embedding_type": "absolute", "summary_activation": "gelu",
         "summary_last_dropout": 0.1, "summary_type": "first", "summary_use_proj": true})"},
    {"albert/albert-base-v2",
     R"({"architectures": ["AlbertForMaskedLM"], "attention_probs_dropout_prob": 0,
         "bos_token_id": 2, "classifier_dropout_prob": 0.1, "down_scale_factor": 1,
         "embedding_size": 128, "eos_token_id": 3, "gap_size": 0, "hidden_act": "gelu_new",
         "hidden_dropout_prob": 0, "hidden_size": 768, "initializer_range": 0.02,
         "inner_group_num": 1, "intermediate_size": 3072, "layer_norm_eps": 1e-12,
         "max_position_embeddings": 512, "model_type": "albert", "net_structure_type": 0,
         "num_attention_heads": 12, "num_hidden_groups": 1, "num_hidden_layers": 12,
         "num_memory_blocks": 0, "pad_token_id": 0, "type_vocab_size": 2, "vocab_size": 30000})"},
    {"microsoft/deberta-v3-base",
     R"({"model_type": "deberta-v2", "attention_probs_dropout_prob": 0.1, "hidden_act": "gelu",
         "hidden_dropout_prob": 0.1, "hidden_size": 768, "initializer_range": 0.02,
         "intermediate_size": 3072, "max_position_embeddings": 512, "relative_attention": true,
         "position_buckets": 256, "norm_rel_ebd": "layer_norm", "share_att_key": true,
         "pos_att_type": "p2c|c2p", "layer_norm_eps": 1e-7, "max_relative_positions": -1,
         "position_biased_input": false, "num_attention_heads": 12, "num_hidden_layers": 12,
         "type_vocab_size": 0, "vocab_size": 128100})"},
    {"EuroBERT/EuroBERT-210m",
     R"({"architectures": ["EuroBertForMaskedLM"], "attention_bias": false, "attention_dropout": 0.0,
         "bos_token": "<|begin_of_text|>", "bos_token_id": 128000, "clf_pooling": "late",
         "eos_token": "<|end_of_text|>", "eos_token_id": 128001, "head_dim": 64,
         "hidden_act": "silu", "hidden_size": 768, "initializer_range": 0.02,
         "intermediate_size": 3072, "mask_token": "<|mask|>", "mask_token_id": 128002,
         "max_position_embeddings": 8192, "mlp_bias": false, "model_type": "eurobert",
         "num_attention_heads": 12, "num_hidden_layers": 12, "num_key_value_heads": 12,
         "pad_token": "<|end_of_text|>", "pad_token_id": 128001, "pretraining_tp": 1,
         "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 250000,
         "tie_word_embeddings": false, "use_cache": false, "vocab_size": 128256})"},
    {"Alibaba-NLP/gte-multilingual-base",
     R"({"architectures": ["NewModel", "NewForTokenClassification"],
         "attention_probs_dropout_prob": 0.0, "classifier_dropout": 0.0, "hidden_act": "gelu",
         "hidden_dropout_prob": 0.1, "hidden_size": 768, "initializer_range": 0.02,
         "intermediate_size": 3072, "layer_norm_eps": 1e-12, "layer_norm_type": "layer_norm",
         "logn_attention_clip1": false, "logn_attention_scale": false,
         "max_position_embeddings": 8192, "model_type": "new", "num_attention_heads": 12,
         "num_hidden_layers": 12, "pack_qkv": true, "pad_token_id": 1,
         "position_embedding_type": "rope", "rope_scaling": {"factor": 8.0, "type": "ntk"},
         "rope_theta": 20000, "type_vocab_size": 1, "unpad_inputs": false,
         "use_memory_efficient_attention": false, "vocab_size": 250048})"},
    {"jinaai/jina-embeddings-v2-base-en",
     R"({"model_max_length": 8192, "architectures": ["JinaBertForMaskedLM"],
         "attention_probs_dropout_prob": 0.0, "classifier_dropout": null,
         "gradient_checkpointing": false, "hidden_act": "gelu", "hidden_dropout_prob": 0.1,
         "hidden_size": 768, "initializer_range": 0.02, "intermediate_size": 3072,
         "layer_norm_eps": 1e-12, "max_position_embeddings": 8192, "model_type": "bert",
         "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 0,
         "position_embedding_type": "alibi", "type_vocab_size": 2, "use_cache": true,
         "vocab_size": 30528, "feed_forward_type": "geglu", "emb_pooler": "mean",
         "attn_implementation": "torch"})"},
    {"nomic-ai/nomic-embed-text-v2-moe",
     R"({"activation_function": "gelu", "add_pooling_layer": false,
         "architectures": ["NomicBertModel"], "attn_pdrop": 0.0, "bos_token_id": null,
         "causal": false, "dense_seq_output": true, "embd_pdrop": 0.1, "eos_token_id": null,
         "expert_choice_router": false, "ffn_div": 1, "fused_bias_fc": true,
         "fused_dropout_add_ln": true, "initializer_range": 0.02, "layer_norm_epsilon": 1e-05,
         "max_trained_positions": 2048, "mlp_fc1_bias": true, "mlp_fc2_bias": true,
         "model_type": "nomic_bert", "moe_every_n_layers": 2, "moe_impl": "megablocks",
         "moe_normalize_expert_weights": false, "moe_resid_pdrop": 0.0, "moe_top_k": 2,
         "n_embd": 768, "n_head": 12, "n_inner": 3072, "n_layer": 12, "n_positions": 2048,
         "num_experts": 8, "num_shared_experts": 0, "pad_token_id": 1,
         "pad_vocab_size_multiple": 64, "parallel_block": false, "parallel_block_tied_norm": false,
         "prenorm": false, "qkv_proj_bias": true, "reorder_and_upcast_attn": false,
         "resid_pdrop": 0.0, "rotary_emb_base": 10000, "rotary_emb_fraction": 1.0,
         "rotary_emb_interleaved": false, "rotary_emb_scale_base": null,
         "rotary_scaling_factor": null, "router_aux_loss_coef": 0.1,
         "scale_attn_by_inverse_layer_idx": false, "scale_attn_weights": true,
         "summary_activation": null, "summary_first_dropout": 0.1, "summary_proj_to_labels": true,
         "summary_type": "cls_index", "summary_use_proj": true, "type_vocab_size": 1,
         "use_cache": true, "use_flash_attn": true, "use_rms_norm": false, "use_xentropy": true,
         "vocab_size": 250048})"}};

TEST(PublishedEncoders, AreReadWithoutAWarningThatTheirFieldsAreUnknown) {
  for (const auto& [name, text] : kPublished) {
    SCOPED_TRACE(name);
    const nlohmann::json json = parse_json(text, "f");
    ModelConfig config =
        family_of_type(json["model_type"].get<std::string>(), "f").read_config(json, "f");
    config.validate();
    EXPECT_EQ(config.decoder_layers, 0);
    for (const std::string& warning : config.warnings)
      EXPECT_NE(warning.find("ElectraForPreTraining"), std::string::npos) << warning;
  }
}

}  // namespace
}  // namespace heed::model

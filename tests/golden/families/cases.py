"""The cases of make.py: for each folder, the transformers model, its config and its outputs.

Every dimension is as small as it can be while staying different from the others where the family
allows it, so that a mixed-up axis fails; windows, relative distances, rotary scalings and
epsilons are chosen to show within the sequences of make.py.
"""
import collections.abc
import dataclasses

import torch
import transformers as hf

import remote


@dataclasses.dataclass
class Case:
    model: type
    config: hf.PretrainedConfig
    # causal: next token; masked: given labels at given rows; hidden: encoder without a head;
    # classified: labels of texts or of tokens. seq2seq: encoder-decoder.
    kind: str = "causal"
    # Fields as checkpoints from before transformers 5 spell them, over what old_config() maps.
    old: dict | None = None
    # From the tensors of model.safetensors to those that such a checkpoint holds.
    old_tensors: collections.abc.Callable | None = None
    # The first one tried for the weights. Where make.py rejects many, the one it arrives at.
    seed: int = 3


VOCAB = 56
PLAIN = dict(attn_implementation="eager")
# Three of the four rotary frequencies of d = 8 fall into different bands of these scalings.
LLAMA3_ROPE = dict(rope_type="llama3", rope_theta=100.0, factor=8.0, low_freq_factor=1.0,
                   high_freq_factor=4.0, original_max_position_embeddings=32)
YARN_ROPE = dict(rope_type="yarn", rope_theta=100.0, factor=4.0, beta_fast=4, beta_slow=1,
                 original_max_position_embeddings=32)


def rope(theta, **scaling):
    return dict(rope_type="default", rope_theta=theta) | scaling


def decoder(**changes):
    return dict(vocab_size=VOCAB, hidden_size=16, intermediate_size=28, num_hidden_layers=2,
                num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
                rope_parameters=rope(100.0), rms_norm_eps=2e-3, bos_token_id=1, eos_token_id=2,
                pad_token_id=None, tie_word_embeddings=False, **PLAIN) | changes


def llama(**changes):
    # d = 8, for as many rotary frequencies as the scalings have bands.
    sizes = dict(num_attention_heads=2, num_key_value_heads=1)
    return hf.LlamaConfig(**decoder(**sizes | changes))


def bert(config, **changes):
    return config(**dict(vocab_size=VOCAB, hidden_size=16, num_hidden_layers=2,
                         num_attention_heads=2, intermediate_size=28, max_position_embeddings=40,
                         type_vocab_size=2, hidden_dropout_prob=0.0,
                         attention_probs_dropout_prob=0.0, layer_norm_eps=2e-3, **PLAIN) | changes)


def mpnet(**changes):
    # The reference has 32 buckets built in.
    return bert(hf.MPNetConfig, type_vocab_size=None, max_position_embeddings=42, **changes)


def modernbert(**changes):
    """Two layers with windows of two tokens to each side, between two without."""
    return hf.ModernBertConfig(**dict(
        vocab_size=VOCAB, hidden_size=16, num_hidden_layers=4, num_attention_heads=2,
        intermediate_size=28, max_position_embeddings=40, norm_eps=2e-3, local_attention=4,
        pad_token_id=0, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2,
        rope_parameters=dict(full_attention=rope(100.0), sliding_attention=rope(20.0)),
        **PLAIN) | changes)


def nomic(**changes):
    return bert(hf.NomicBertConfig, rope_parameters=rope(100.0), **changes)


def electra(**changes):
    return bert(hf.ElectraConfig, **dict(embedding_size=12) | changes)


def albert(**changes):
    """Two groups of two layers."""
    return bert(hf.AlbertConfig, **dict(embedding_size=12, num_hidden_layers=4, num_hidden_groups=2,
                                        bos_token_id=1, eos_token_id=2) | changes)


def eurobert(**changes):
    return hf.EuroBertConfig(**decoder(pad_token_id=0) | changes)


def gte(**changes):
    return bert(hf.GteConfig, rope_parameters=rope(100.0), pad_token_id=0, **changes)


def deberta(**changes):
    """As version 3: distances of more than 4 share vectors."""
    return bert(hf.DebertaV2Config, **dict(
        type_vocab_size=0, relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=8,
        max_relative_positions=16, share_att_key=True, norm_rel_ebd="layer_norm",
        position_biased_input=False) | changes)


def published(model_type, **fields):
    """The configuration of a model whose code is its own."""
    kind = type("Config", (hf.PretrainedConfig,), dict(model_type=model_type))
    return kind(**dict(hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0, layer_norm_eps=2e-3,
                       pad_token_id=0) | fields)


def bert_sizes(**fields):
    return dict(vocab_size=VOCAB, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
                intermediate_size=28, max_position_embeddings=40, type_vocab_size=2, hidden_act="gelu") | fields


JINA = dict(position_embedding_type="alibi", feed_forward_type="geglu", **bert_sizes(
    hidden_size=18, num_attention_heads=3))
NOMIC_MOE = dict(
    vocab_size=VOCAB, n_embd=16, n_layer=2, n_head=2, n_inner=20, n_positions=40, type_vocab_size=2,
    hidden_size=16, num_hidden_layers=2,  # as transformers names them, beside the published names
    activation_function="gelu", causal=False, prenorm=False, use_rms_norm=False, qkv_proj_bias=True,
    mlp_fc1_bias=True, mlp_fc2_bias=True, rotary_emb_base=100, rotary_emb_fraction=1.0,
    rotary_emb_interleaved=False, layer_norm_epsilon=2e-3, moe_every_n_layers=2, num_experts=4,
    moe_top_k=2, moe_normalize_expert_weights=False, expert_choice_router=False, num_shared_experts=0,
    ffn_div=1, moe_impl="megablocks", router_aux_loss_coef=0.1, add_pooling_layer=False)


T5 = dict(vocab_size=VOCAB, d_model=16, d_kv=6, d_ff=28, num_layers=2, num_decoder_layers=3,
          num_heads=4, relative_attention_num_buckets=8, relative_attention_max_distance=9,
          layer_norm_epsilon=2e-3, dropout_rate=0.0, decoder_start_token_id=0, **PLAIN)


SHALLOW = dict(num_layers=1, num_decoder_layers=2, d_ff=20)


def t5(**changes):
    return hf.T5Config(**T5 | changes)


def seq2seq(**changes):
    """Encoder and decoder differ wherever they can."""
    return dict(vocab_size=VOCAB, d_model=16, encoder_layers=2, decoder_layers=1,
                encoder_attention_heads=2, decoder_attention_heads=4, encoder_ffn_dim=20,
                decoder_ffn_dim=28, max_position_embeddings=40, dropout=0.0, attention_dropout=0.0,
                activation_dropout=0.0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2,
                forced_eos_token_id=None, **PLAIN) | changes


def gpt2(**changes):
    return hf.GPT2Config(**dict(
        vocab_size=VOCAB, n_embd=16, n_layer=2, n_head=2, n_inner=28, n_positions=40,
        layer_norm_epsilon=2e-3, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0, bos_token_id=1,
        eos_token_id=1, **PLAIN) | changes)


def deepseek(config=hf.DeepseekV2Config, **changes):
    sizes = dict(num_attention_heads=2, num_key_value_heads=2, num_hidden_layers=3,
                 moe_intermediate_size=12, first_k_dense_replace=1, n_routed_experts=6,
                 num_experts_per_tok=3, n_shared_experts=2, kv_lora_rank=12, q_lora_rank=None,
                 qk_nope_head_dim=6, qk_rope_head_dim=8, v_head_dim=10,
                 routed_scaling_factor=1.5, norm_topk_prob=False)
    return config(**decoder(**sizes | changes))


def neox(**changes):
    return hf.GPTNeoXConfig(**dict(
        vocab_size=VOCAB, hidden_size=16, intermediate_size=28, num_hidden_layers=2,
        num_attention_heads=2, max_position_embeddings=128, layer_norm_eps=2e-3, bos_token_id=1,
        eos_token_id=2, rope_parameters=rope(100.0, partial_rotary_factor=0.5), **PLAIN) | changes)


def electra_old(tensors):
    """As google's discriminators are, whose head tells replaced tokens."""
    head = {"dense.weight": (16, 16), "dense.bias": (16,), "dense_prediction.weight": (1, 16),
            "dense_prediction.bias": (1,)}
    return {"electra." + name: tensor for name, tensor in tensors.items()} | {
        "discriminator_predictions." + name: torch.ones(shape) for name, shape in head.items()}


def deberta_old(tensors):
    """As microsoft's version 3, with what it was trained with."""
    return {"deberta." + name: tensor for name, tensor in tensors.items()} | {
        "lm_predictions.lm_head.bias": torch.ones(VOCAB), "mask_predictions.dense.bias": torch.ones(16),
        "deberta.embeddings.position_embeddings.weight": torch.ones(40, 16)}


def gpt2_old(tensors):
    old = {name.removeprefix("transformer."): tensor for name, tensor in tensors.items()}
    mask = torch.ones(40, 40).tril()[None, None]
    return old | {f"h.{layer}.attn.bias": mask.clone() for layer in range(2)}


def bert_old(tensors):
    old = {name.replace("LayerNorm.weight", "LayerNorm.gamma")
           .replace("LayerNorm.bias", "LayerNorm.beta"): tensor for name, tensor in tensors.items()}
    return old | {"bert.embeddings.position_ids": torch.arange(40)[None],
                  "bert.pooler.dense.weight": torch.ones(16, 16),
                  "bert.pooler.dense.bias": torch.ones(16),
                  "cls.predictions.decoder.weight":
                      tensors["bert.embeddings.word_embeddings.weight"].clone(),
                  "cls.seq_relationship.weight": torch.ones(2, 16),
                  "cls.seq_relationship.bias": torch.ones(2)}


def roberta_old(tensors):
    return tensors | {"roberta.embeddings.position_ids": torch.arange(42)[None],
                      "roberta.pooler.dense.weight": torch.ones(16, 16),
                      "roberta.pooler.dense.bias": torch.ones(16),
                      "lm_head.decoder.weight":
                          tensors["roberta.embeddings.word_embeddings.weight"].clone()}


def t5_old(tensors):
    copies = ("encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight")
    unused = "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight"
    return tensors | {name: tensors["shared.weight"].clone() for name in copies} | {
        unused: torch.ones(8, 4)}


def llama_old(tensors):
    inverse = 100.0 ** (-torch.arange(0, 8, 2) / 8)
    return tensors | {f"model.layers.{layer}.self_attn.rotary_emb.inv_freq": inverse.clone()
                      for layer in range(2)}


LABELS = dict(id2label={0: "bad", 1: "fair", 2: "good"}, label2id=dict(bad=0, fair=1, good=2))
SMALL = dict(num_hidden_layers=1) | LABELS
# What the config of nomic-embed-text-v1.5, whose code was its own, has besides BERT's fields.
NOMIC_OLD = dict(
    activation_function="swiglu", causal=False, embd_pdrop=0.0, fused_bias_fc=True,
    layer_norm_epsilon=2e-3, max_trained_positions=40, mlp_fc1_bias=False, mlp_fc2_bias=False,
    n_embd=16, n_head=2, n_inner=28, n_layer=2, n_positions=40, pad_vocab_size_multiple=64,
    parallel_block=False, parallel_block_tied_norm=False, prenorm=False, qkv_proj_bias=False,
    rotary_emb_base=100, rotary_emb_fraction=1.0, rotary_emb_interleaved=False,
    rotary_emb_scale_base=None, rotary_scaling_factor=None, use_rms_norm=False)
DEEPSEEK_OLD = dict(scoring_func="softmax", seq_aux=True, aux_loss_alpha=0.001, moe_layer_freq=1,
                    ep_size=1)

CASES = {
    "bart": Case(hf.BartForConditionalGeneration, hf.BartConfig(
        vocab_size=VOCAB, d_model=16, encoder_layers=2, decoder_layers=2,
        encoder_attention_heads=2, decoder_attention_heads=4, encoder_ffn_dim=20,
        decoder_ffn_dim=28, max_position_embeddings=40, dropout=0.0, attention_dropout=0.0,
        activation_dropout=0.0, forced_eos_token_id=None, **PLAIN), "seq2seq",
        seed=6156),
    "mbart": Case(hf.MBartForConditionalGeneration, hf.MBartConfig(**seq2seq(
        scale_embedding=True)), "seq2seq", old=dict(normalize_before=True,
                                                    add_final_layer_norm=True)),
    "m2m-100": Case(hf.M2M100ForConditionalGeneration, hf.M2M100Config(**seq2seq(
        scale_embedding=True, encoder_layerdrop=0.0, decoder_layerdrop=0.0)), "seq2seq"),
    "pegasus": Case(hf.PegasusForConditionalGeneration, hf.PegasusConfig(**seq2seq(
        scale_embedding=True)), "seq2seq"),
    "marian": Case(hf.MarianMTModel, hf.MarianConfig(**seq2seq(decoder_vocab_size=VOCAB)),
                   "seq2seq"),
    "marian-separate": Case(hf.MarianMTModel, hf.MarianConfig(**seq2seq(
        vocab_size=VOCAB + 4, decoder_vocab_size=VOCAB, share_encoder_decoder_embeddings=False,
        scale_embedding=True)), "seq2seq"),
    "mt5": Case(hf.MT5ForConditionalGeneration, hf.MT5Config(**T5 | SHALLOW), "seq2seq"),
    "t5-v1.1-tied": Case(hf.T5ForConditionalGeneration,
                         t5(feed_forward_proj="gated-gelu", tie_word_embeddings=False, **SHALLOW),
                         "seq2seq"),
    "t5-states": Case(hf.T5EncoderModel, t5(**SHALLOW), "hidden"),
    "t5-token": Case(hf.T5ForTokenClassification, t5(**SHALLOW, **LABELS), "classified"),
    "t5": Case(hf.T5ForConditionalGeneration, t5(), "seq2seq", old_tensors=t5_old, seed=415),
    "t5-v1.1": Case(hf.T5ForConditionalGeneration,
                    t5(feed_forward_proj="gated-gelu", tie_word_embeddings=False), "seq2seq",
                    old=dict(tie_word_embeddings=False)),
    "bert": Case(hf.BertForMaskedLM, bert(hf.BertConfig), "masked", old_tensors=bert_old),
    "bert-pooled": Case(hf.BertModel, bert(hf.BertConfig), "hidden"),
    "distilbert": Case(hf.DistilBertForMaskedLM, hf.DistilBertConfig(
        vocab_size=VOCAB, dim=16, n_layers=2, n_heads=2, hidden_dim=28,
        max_position_embeddings=40, dropout=0.0, attention_dropout=0.0, **PLAIN), "masked"),
    "roberta": Case(hf.RobertaForMaskedLM, bert(hf.RobertaConfig, type_vocab_size=1,
                                                max_position_embeddings=42), "masked",
                    old_tensors=roberta_old),
    "xlm-roberta": Case(hf.XLMRobertaForMaskedLM, bert(
        hf.XLMRobertaConfig, type_vocab_size=1, max_position_embeddings=42), "masked",
        old_tensors=roberta_old),
    "mpnet": Case(hf.MPNetForMaskedLM, mpnet(), "masked"),
    "mpnet-pooled": Case(hf.MPNetModel, mpnet(), "hidden"),
    "modernbert": Case(hf.ModernBertForMaskedLM, modernbert(), "masked", old=dict(
        global_attn_every_n_layers=3, global_rope_theta=100.0, local_rope_theta=20.0)),
    "modernbert-bias": Case(hf.ModernBertForMaskedLM, modernbert(
        norm_bias=True, attention_bias=True, mlp_bias=True, classifier_bias=True,
        decoder_bias=False), "masked"),
    "nomic-bert": Case(hf.NomicBertModel, nomic(), "hidden", old=NOMIC_OLD),
    "nomic-bert-masked": Case(hf.NomicBertForMaskedLM, nomic(), "masked"),
    "nomic-bert-moe": Case(remote.NomicBertModel, published("nomic_bert", **NOMIC_MOE), "hidden"),
    "electra": Case(hf.ElectraForMaskedLM, electra(), "masked"),
    "electra-states": Case(hf.ElectraModel, electra(embedding_size=16), "hidden", old_tensors=electra_old),
    "electra-sequence": Case(hf.ElectraForSequenceClassification, electra(**SMALL), "classified"),
    "electra-token": Case(hf.ElectraForTokenClassification, electra(**SMALL), "classified"),
    "albert": Case(hf.AlbertForMaskedLM, albert(), "masked"),
    "albert-pooled": Case(hf.AlbertModel, albert(embedding_size=16, num_hidden_groups=1), "hidden"),
    "albert-sequence": Case(hf.AlbertForSequenceClassification, albert(classifier_dropout_prob=0.0, **LABELS),
                            "classified"),
    "eurobert": Case(hf.EuroBertForMaskedLM, eurobert(mlp_bias=True), "masked"),
    "eurobert-states": Case(hf.EuroBertModel, eurobert(attention_bias=True), "hidden"),
    "eurobert-sequence": Case(hf.EuroBertForSequenceClassification, eurobert(**SMALL), "classified"),
    "eurobert-token": Case(hf.EuroBertForTokenClassification, eurobert(**SMALL), "classified"),
    "gte": Case(hf.GteForMaskedLM, gte(), "masked"),
    "gte-new": Case(remote.NewModel, published(
        "new", rope_parameters=rope(100.0, rope_type="ntk", factor=4.0), pack_qkv=True,
        position_embedding_type="rope", layer_norm_type="layer_norm", logn_attention_scale=False,
        **bert_sizes()), "hidden", old={}),
    "gte-sequence": Case(hf.GteForSequenceClassification, gte(**SMALL), "classified"),
    "jina-bert": Case(remote.JinaBertForMaskedLM, published("bert", **JINA), "masked"),
    "jina-bert-pooled": Case(remote.JinaBertModel, published("bert", **JINA), "hidden"),
    "deberta-v2": Case(hf.DebertaV2ForMaskedLM, deberta(), "masked"),
    "deberta-v2-apart": Case(hf.DebertaV2ForMaskedLM, deberta(
        share_att_key=False, norm_rel_ebd="none", position_biased_input=True, type_vocab_size=2,
        position_buckets=-1, max_relative_positions=-1, max_position_embeddings=14), "masked"),
    "deberta-v2-states": Case(hf.DebertaV2Model, deberta(pos_att_type="c2p"), "hidden",
                              old_tensors=deberta_old),
    "deberta-v2-sequence": Case(hf.DebertaV2ForSequenceClassification, deberta(**SMALL), "classified"),
    "deberta-v2-token": Case(hf.DebertaV2ForTokenClassification, deberta(
        pos_att_type=["p2c"], **SMALL), "classified"),
    "bert-sequence": Case(hf.BertForSequenceClassification, bert(
        hf.BertConfig, problem_type="multi_label_classification", **SMALL), "classified"),
    "roberta-sequence": Case(hf.RobertaForSequenceClassification, bert(
        hf.RobertaConfig, type_vocab_size=1, max_position_embeddings=42,
        problem_type="regression", **SMALL), "classified"),
    "distilbert-sequence": Case(hf.DistilBertForSequenceClassification, hf.DistilBertConfig(
        vocab_size=VOCAB, dim=16, n_layers=1, n_heads=2, hidden_dim=28, seq_classif_dropout=0.0,
        max_position_embeddings=40, dropout=0.0, attention_dropout=0.0, **PLAIN), "classified"),
    "mpnet-sequence": Case(hf.MPNetForSequenceClassification, mpnet(**SMALL), "classified"),
    "modernbert-sequence": Case(hf.ModernBertForSequenceClassification, modernbert(
        classifier_pooling="mean", **SMALL), "classified"),
    "nomic-bert-sequence": Case(hf.NomicBertForSequenceClassification, nomic(**SMALL),
                                "classified"),
    "llama-sequence": Case(hf.LlamaForSequenceClassification, llama(pad_token_id=3, **SMALL),
                           "classified"),
    "gemma2-sequence": Case(hf.Gemma2ForSequenceClassification, hf.Gemma2Config(**decoder(
        head_dim=6, num_key_value_heads=1, query_pre_attn_scalar=9, tie_word_embeddings=True,
        **SMALL)), "classified"),
    "gpt2-sequence": Case(hf.GPT2ForSequenceClassification, gpt2(n_layer=1, **LABELS),
                          "classified"),
    "bert-token": Case(hf.BertForTokenClassification, bert(hf.BertConfig, **SMALL), "classified"),
    "roberta-token": Case(hf.RobertaForTokenClassification, bert(
        hf.RobertaConfig, type_vocab_size=1, max_position_embeddings=42, **SMALL), "classified"),
    "modernbert-token": Case(hf.ModernBertForTokenClassification, modernbert(
        classifier_bias=True, **SMALL), "classified"),
    "llama-token": Case(hf.LlamaForTokenClassification, llama(**SMALL), "classified"),
    "gpt2-token": Case(hf.GPT2ForTokenClassification, gpt2(n_layer=1, **LABELS), "classified"),
    "gpt2": Case(hf.GPT2LMHeadModel, gpt2(), old_tensors=gpt2_old),
    "gpt2-scaled": Case(hf.GPT2LMHeadModel, gpt2(scale_attn_by_inverse_layer_idx=True)),
    "llama2": Case(hf.LlamaForCausalLM, llama(num_key_value_heads=2),
                   old_tensors=llama_old),
    "llama3": Case(hf.LlamaForCausalLM, llama(hidden_size=32, num_attention_heads=4,
                                              num_key_value_heads=2,
                                              rope_parameters=LLAMA3_ROPE)),
    "llama-linear": Case(hf.LlamaForCausalLM, llama(
        tie_word_embeddings=True, rope_parameters=rope(100.0, rope_type="linear", factor=4.0))),
    "llama-yarn": Case(hf.LlamaForCausalLM, llama(rope_parameters=YARN_ROPE)),
    "llama-dynamic": Case(hf.LlamaForCausalLM, llama(
        rope_parameters=rope(100.0, rope_type="dynamic", factor=4.0))),
    "llama-bias": Case(hf.LlamaForCausalLM, llama(attention_bias=True, mlp_bias=True)),
    "mistral": Case(hf.MistralForCausalLM, hf.MistralConfig(**decoder(
        sliding_window=4, head_dim=6))),
    "qwen2": Case(hf.Qwen2ForCausalLM, hf.Qwen2Config(**decoder(tie_word_embeddings=True)),
                  old=dict(sliding_window=4)),
    "qwen2-window": Case(hf.Qwen2ForCausalLM, hf.Qwen2Config(**decoder(
        num_hidden_layers=3, use_sliding_window=True, sliding_window=4, max_window_layers=1))),
    "qwen3": Case(hf.Qwen3ForCausalLM, hf.Qwen3Config(**decoder(head_dim=6))),
    "gemma": Case(hf.GemmaForCausalLM, hf.GemmaConfig(**decoder(
        head_dim=6, num_key_value_heads=1, tie_word_embeddings=True)), old=dict(hidden_act="gelu")),
    "gemma2": Case(hf.Gemma2ForCausalLM, hf.Gemma2Config(**decoder(
        num_hidden_layers=3, head_dim=6, query_pre_attn_scalar=9, sliding_window=4,
        attn_logit_softcapping=3.0, final_logit_softcapping=5.0, tie_word_embeddings=True)),
        old=dict(hidden_act="gelu_pytorch_tanh", cache_implementation="hybrid"), seed=522),
    "gemma3": Case(hf.Gemma3ForCausalLM, hf.Gemma3TextConfig(**decoder(
        num_hidden_layers=3, head_dim=6, query_pre_attn_scalar=9, sliding_window=4,
        layer_types=["sliding_attention", "sliding_attention", "full_attention"],
        rope_parameters=dict(full_attention=rope(100.0, rope_type="linear", factor=4.0),
                             sliding_attention=rope(20.0)),
        tie_word_embeddings=True)), old=dict(sliding_window_pattern=3)),
    "granite": Case(hf.GraniteForCausalLM, hf.GraniteConfig(**decoder(
        embedding_multiplier=3.0, logits_scaling=0.7, residual_multiplier=0.6,
        attention_multiplier=0.4, tie_word_embeddings=True))),
    "olmo2": Case(hf.Olmo2ForCausalLM, hf.Olmo2Config(**decoder())),
    "smollm3": Case(hf.SmolLM3ForCausalLM, hf.SmolLM3Config(**decoder(
        num_hidden_layers=3, no_rope_layers=[1, 0, 1], tie_word_embeddings=True))),
    "qwen3-moe": Case(hf.Qwen3MoeForCausalLM, hf.Qwen3MoeConfig(**decoder(
        head_dim=6, num_experts=6, num_experts_per_tok=3, moe_intermediate_size=12,
        norm_topk_prob=True))),
    "mixtral": Case(hf.MixtralForCausalLM, hf.MixtralConfig(**decoder(
        num_local_experts=5, num_experts_per_tok=2))),
    "gpt-oss": Case(hf.GptOssForCausalLM, hf.GptOssConfig(**decoder(
        head_dim=6, intermediate_size=12, num_local_experts=4,
        num_experts_per_tok=2, sliding_window=4,
        rope_parameters=YARN_ROPE | dict(truncate=False)))),
    "phi3": Case(hf.Phi3ForCausalLM, hf.Phi3Config(**decoder(sliding_window=4))),
    "phi3-longrope": Case(hf.Phi3ForCausalLM, hf.Phi3Config(**decoder(
        num_attention_heads=2, num_key_value_heads=1, original_max_position_embeddings=40,
        tie_word_embeddings=True,
        rope_parameters=rope(100.0, rope_type="longrope", partial_rotary_factor=0.75,
                             short_factor=[1.0, 1.5, 2.0], long_factor=[1.25, 4.0, 8.0])))),
    "gpt-neox": Case(hf.GPTNeoXForCausalLM, neox()),
    "gpt-neox-sequential": Case(hf.GPTNeoXForCausalLM, neox(use_parallel_residual=False)),
    "deepseek-v2": Case(hf.DeepseekV2ForCausalLM, deepseek(),
                        old=DEEPSEEK_OLD | dict(n_group=1, topk_group=1)),
    "deepseek-v2-group": Case(hf.DeepseekV2ForCausalLM, deepseek(
        q_lora_rank=14, topk_method="group_limited_greedy", n_group=3, topk_group=2,
        rope_parameters=YARN_ROPE | dict(mscale=0.9, mscale_all_dim=0.5, beta_fast=2,
                                     original_max_position_embeddings=64),
        max_position_embeddings=256), old=DEEPSEEK_OLD),
    "deepseek-v3": Case(hf.DeepseekV3ForCausalLM, deepseek(
        hf.DeepseekV3Config, q_lora_rank=14, n_routed_experts=9, n_group=3, topk_group=2,
        norm_topk_prob=True, num_mtp_layers=0)),
}

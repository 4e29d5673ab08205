// Decoding with weights in their stored dtypes, compared with one full pass with the same weights:
// absorbed kv_b_proj of latent attention is read by rows and by columns.
#include <gtest/gtest.h>

#include "heed/checkpoint/model_directory.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/decoding.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

constexpr const char* kDeepSeek = R"({
  "model_type": "deepseek_v2", "vocab_size": 64, "hidden_size": 64, "num_hidden_layers": 3,
  "num_attention_heads": 4, "intermediate_size": 96, "hidden_act": "silu", "kv_lora_rank": 64,
  "q_lora_rank": 32, "qk_rope_head_dim": 32, "qk_nope_head_dim": 32, "v_head_dim": 32,
  "n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
  "n_shared_experts": 1, "first_k_dense_replace": 1})";

class StoredDecoding : public ::testing::TestWithParam<DType> {};

TEST_P(StoredDecoding, OfLatentAttentionEqualsOneFullPass) {
  const TemporaryDirectory folder;
  write_quickly(folder / "config.json", kDeepSeek);
  const auto model =
      load_model(folder.path(), {.precision = {.dtype = GetParam()}}, {.random_seed = 3});
  const bool four_bits = GetParam() == DType::q4_0 || GetParam() == DType::q4_1;
  EXPECT_EQ(
      model->parameters().named("model.decoder.layers.0.self_attn.kv_b_proj.weight").value.dtype(),
      four_bits ? DType::q8_0 : GetParam());
  const std::vector<int32_t> ids{5, 9, 2, 30, 7, 8, 11, 40}, offsets{0, 8};
  Context context;
  const Tensor all = model->logits(context, model->decode_all(context, {ids, offsets}));
  Decoding decoding(*model, 1);
  for (size_t i = 0; i < ids.size(); ++i) {
    const auto row = static_cast<int64_t>(i);
    EXPECT_LT(difference(decoding.feed({{ids[i]}}), all.row_slice(row, row + 1)), 1e-5)
        << "token " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(DTypes, StoredDecoding,
                         ::testing::Values(DType::f32, DType::f16, DType::bf16, DType::q8_0,
                                           DType::q4_0, DType::q4_1),
                         [](const auto& one) { return std::string(name_of(one.param)); });

}  // namespace
}  // namespace heed::checkpoint

// All combinations of weight dtype and compute, from plain and from quantised files, for models
// with weights that are read in unusual ways.
#include <gtest/gtest.h>

#include <cmath>

#include "heed/checkpoint/model_directory.h"
#include "heed/checkpoint/quantized_directory.h"
#include "heed/quantize/quantization.h"
#include "tests/base/testing.h"

namespace heed::checkpoint {
namespace {

constexpr std::optional<DType> kWeights[] = {std::nullopt, DType::f32,  DType::bf16,
                                             DType::q8_0,  DType::q4_0, DType::q4_1};
constexpr Compute kComputes[] = {Compute::f32, Compute::bf16, Compute::int8};

/// With enough heads that rows of the relative position table are whole blocks (Flan-T5 XL).
constexpr const char* kT5 = R"({
  "model_type": "t5", "vocab_size": 64, "d_model": 64, "num_layers": 2, "num_heads": 32,
  "d_kv": 4, "d_ff": 96, "tie_word_embeddings": true})";

constexpr const char* kDeepSeekFiles = R"({
  "model_type": "deepseek_v2", "vocab_size": 64, "hidden_size": 64, "num_hidden_layers": 2,
  "num_attention_heads": 4, "intermediate_size": 96, "hidden_act": "silu", "kv_lora_rank": 64,
  "q_lora_rank": 32, "qk_rope_head_dim": 32, "qk_nope_head_dim": 32, "v_head_dim": 32,
  "n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32,
  "n_shared_experts": 1, "first_k_dense_replace": 1})";

Tensor logits_of(const model::Transformer& model, Compute compute) {
  const std::vector<int32_t> ids{5, 9, 2, 30, 7, 8, 11, 40, 3}, offsets{0, 5, 9};
  Context context{.dtype = activation_dtype(compute)};
  model::Memory memory;
  if (model.has_encoder()) memory = model.encode(context, {ids, offsets});
  return model.logits(context, model.decode_all(context, {ids, offsets}, memory));
}

/// The RMS of the differences divided by the RMS of the expected numbers.
double error(const Tensor& found, const Tensor& expected) {
  double sum = 0, square = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double is = found.data<float>()[i], should = expected.data<float>()[i];
    sum += (is - should) * (is - should);
    square += should * should;
  }
  return std::sqrt(sum / square);
}

/// The tolerated error of the logits of these small random models with rounded weights and
/// activations.
double tolerance(std::optional<DType> weights, Compute compute) {
  if (weights == DType::q4_0 || weights == DType::q4_1) return 0.4;
  return weights == DType::q8_0 || weights == DType::bf16 || compute != Compute::f32 ? 0.06 : 1e-5;
}

class WeightsAndCompute : public testing::TestWithParam<const char*> {
 protected:
  WeightsAndCompute() {
    std::filesystem::create_directory(original_);
    write_quickly(original_ / "config.json", GetParam());
    const auto model = OpenedModel(original_, {.random_seed = 3}).load();
    expected_ = logits_of(*model, Compute::f32);
    save_model(original_, *model, {});
  }

  void expect_runs(const std::filesystem::path& path, std::optional<DType> weights,
                   std::optional<DType> kept) {
    for (const Compute compute : kComputes) {
      const auto model = load_model(path, {.precision = {weights}, .pack = compute});
      EXPECT_LT(error(logits_of(*model, compute), expected_), tolerance(kept, compute))
          << (kept ? name_of(*kept) : "stored") << " with " << name_of(compute);
    }
  }

  const TemporaryDirectory folder_;
  const std::filesystem::path original_ = folder_ / "original";
  Tensor expected_;
};

TEST_P(WeightsAndCompute, AllCombinationsRun) {
  for (const std::optional<DType> weights : kWeights) expect_runs(original_, weights, weights);
}

TEST_P(WeightsAndCompute, AQuantisedModelRunsInEveryCompute) {
  for (const DType dtype : {DType::bf16, DType::q8_0, DType::q4_0, DType::q4_1}) {
    const auto model = load_model(original_, {.precision = {std::nullopt}});
    quantize::quantize(*model, {.dtype = dtype});
    const auto path = folder_ / std::string(name_of(dtype));
    save_quantized(path, *model, original_);
    expect_runs(path, std::nullopt, dtype);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, WeightsAndCompute, testing::Values(kT5, kDeepSeekFiles),
                         [](const auto& one) { return one.index == 0 ? "T5" : "DeepSeekV2"; });

}  // namespace
}  // namespace heed::checkpoint

// Adapters in GGUF files beyond those of adapter_golden_test.cc.
#include "heed/checkpoint/gguf/adapter.h"

#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/io/gguf/gguf_file.h"
#include "heed/io/gguf/write.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<model::Transformer> base_model(const char* name) {
  return build_model(golden_folder("families") / name);
}

/// An adapter of all modules that `wanted` selects by name, with random matrices.
template <typename Wanted>
LoadedAdapter random_adapter(const model::Transformer& model, const Wanted& wanted) {
  LoadedAdapter adapter{{.rank = 2, .alpha = 3}, std::make_unique<model::LoraAdapter>(5)};
  for (const model::LinearModule& module : model::linear_modules(model))
    if (wanted(module.name)) adapter.lora->add(module, 2, 1.5f);
  for (model::LoraAdapter::Module& module : adapter.lora->modules())
    for (Parameter* b : module.bs)
      for (int64_t i = 0; i < b->value.elements(); ++i)
        b->value.data<float>()[i] = static_cast<float>(i + 1) / 64;
  return adapter;
}

bool is_not_kv_b(const std::string& name) { return name.find("kv_b_proj") == name.npos; }

TEST(GgufAdapter, GivesTheMatricesOfEveryModuleBack) {
  const TemporaryDirectory folder;
  for (const char* name : {"llama3", "qwen3-moe", "mixtral", "deepseek-v3", "gpt2", "gemma2", "t5",
                           "nomic-bert", "modernbert"}) {
    const auto model = base_model(name);
    const LoadedAdapter adapter = random_adapter(*model, [](const std::string& module) {
      return is_not_kv_b(module) && module.find("head") == module.npos &&
             module.find("decoder") == module.npos;
    });
    ASSERT_FALSE(adapter.lora->modules().empty()) << name;
    save_gguf_adapter(folder / "adapter.gguf", *model, adapter, DType::f32, name);
    const LoadedAdapter again = load_adapter(folder / "adapter.gguf", *model);
    EXPECT_EQ(again.config.alpha, 3) << name;
    EXPECT_EQ(again.config.rank, 2) << name;
    const auto before = adapter_tensors(*adapter.lora), after = adapter_tensors(*again.lora);
    ASSERT_EQ(after.size(), before.size()) << name;
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(after[i].name, before[i].name) << name;
      EXPECT_EQ(difference(after[i].tensor, before[i].tensor), 0) << name << before[i].name;
    }
  }
}

TEST(GgufAdapter, HoldsMatricesOfSomeExperts) {
  const TemporaryDirectory folder;
  const auto model = base_model("qwen3-moe");
  const LoadedAdapter adapter = random_adapter(*model, [](const std::string& module) {
    return module.find("layers.0.mlp.experts.1.") != module.npos;
  });
  save_gguf_adapter(folder / "adapter.gguf", *model, adapter, DType::f32, "some");
  const LoadedAdapter again = load_adapter(folder / "adapter.gguf", *model);
  for (const model::LoraAdapter::Module& module : again.lora->modules()) {
    const bool own = module.linear.name.find("experts.1.") != std::string::npos;
    EXPECT_EQ(module.bs[0]->value.data<float>()[0] == 0.0f, !own) << module.linear.name;
  }
}

TEST(GgufAdapter, HasTheTypeThatIsAskedFor) {
  const TemporaryDirectory folder;
  const auto model = base_model("llama3");
  const LoadedAdapter adapter = random_adapter(*model, is_not_kv_b);
  for (const auto& [dtype, a, b] : {std::tuple(DType::f16, "F16", "F16"),
                                    {DType::bf16, "BF16", "BF16"},
                                    {DType::q8_0, "Q8_0", "F16"}}) {
    save_gguf_adapter(folder / "adapter.gguf", *model, adapter, dtype, "typed");
    const auto file = io::GgufFile::open(folder / "adapter.gguf");
    EXPECT_EQ(file->entry("blk.0.attn_q.weight.lora_a").type, a);
    EXPECT_EQ(file->entry("blk.0.attn_q.weight.lora_b").type, b) << "rows of two elements";
    EXPECT_EQ(load_adapter(folder / "adapter.gguf", *model).lora->modules().size(),
              adapter.lora->modules().size());
  }
}

TEST(GgufAdapter, RefusesToWriteWhatTheFormatCannotSay) {
  const TemporaryDirectory folder;
  const auto refused = [&](const model::Transformer& model, const LoadedAdapter& adapter,
                           const char* message) {
    expect_error([&] { save_gguf_adapter(folder / "a.gguf", model, adapter, DType::f32, "name"); },
                 message);
    EXPECT_TRUE(fs::is_empty(folder.path())) << message;
  };
  const fs::path adapters = golden_folder("adapters");
  const auto llama = base_model("llama3");
  refused(*llama, load_adapter(adapters / "llama", *llama),
          "alpha is 2 for model.layers.0.self_attn.v_proj and 5 for "
          "model.layers.0.mlp.down_proj, but adapter.lora.alpha is one number");
  const auto bert = base_model("bert");
  refused(*bert, load_adapter(adapters / "bert", *bert),
          "it has no tensor for cls.predictions.transform.dense");
  const auto deepseek = base_model("deepseek-v3");
  refused(*deepseek, random_adapter(*deepseek, [](const auto&) { return true; }),
          "it has no tensor for model.layers.0.self_attn.kv_b_proj");
  const auto marian = base_model("marian");
  refused(*marian, random_adapter(*marian, [](const auto&) { return true; }),
          "heed knows no GGUF files of the family marian");
  const auto experts = base_model("qwen3-moe");
  LoadedAdapter mixed{{.alpha = 3}, std::make_unique<model::LoraAdapter>(5)};
  int64_t rank = 1;
  for (const model::LinearModule& module : model::linear_modules(*experts))
    if (module.name.ends_with("gate_proj")) {
      mixed.lora->add(module, rank, 3.0f / static_cast<float>(rank));
      ++rank;
    }
  refused(*experts, mixed, "has another rank than other modules that blk.0.ffn_gate_exps.weight");
}

/// Writes a file with these tensors of zeros.
fs::path write_file(const TemporaryDirectory& folder, io::GgufValues metadata,
                    const std::vector<io::GgufTensor>& tensors) {
  for (const auto& [key, value] : io::GgufValues{{"general.architecture", "llama"},
                                                 {"general.type", "adapter"},
                                                 {"adapter.type", "lora"},
                                                 {"adapter.lora.alpha", 2.0f}})
    metadata.try_emplace(key, value);
  io::write_gguf(folder / "adapter.gguf",
                 {.metadata = io::gguf_metadata_bytes(metadata), .tensors = tensors},
                 [](const io::GgufTensor& tensor) { return Tensor::zeros(tensor.shape); });
  return folder / "adapter.gguf";
}

TEST(GgufAdapter, NamesWhatIsWrongInAFile) {
  const TemporaryDirectory folder;
  const auto model = base_model("llama3");
  const auto refused = [&](const io::GgufValues& metadata,
                           const std::vector<io::GgufTensor>& tensors, const char* message) {
    expect_error([&] { load_adapter(write_file(folder, metadata, tensors), *model); }, message);
  };
  const io::GgufTensor a{"blk.0.attn_q.weight.lora_a", {2, 32}, DType::f32};
  const io::GgufTensor b{"blk.0.attn_q.weight.lora_b", {32, 2}, DType::f32};
  EXPECT_EQ(load_adapter(write_file(folder, {}, {a, b}), *model).lora->modules().size(), 1u);
  refused({{"general.type", "model"}}, {a, b}, "general.type is \"model\", expected \"adapter\"");
  refused({{"adapter.type", "other"}}, {a, b}, "adapter.type is \"other\", expected \"lora\"");
  refused({{"general.architecture", "gpt2"}}, {a, b},
          "general.architecture is \"gpt2\", expected \"llama\"");
  refused({{"adapter.lora.alpha", 0.0f}}, {a, b}, "adapter.lora.alpha is 0, expected a number");
  refused({{"adapter.alora.invocation_tokens", std::vector<int32_t>{1}}}, {a, b},
          "adapter.alora.invocation_tokens is there");
  refused({}, {a}, "there is no blk.0.attn_q.weight.lora_b");
  refused({}, {a, {b.name, {16, 2}, DType::f32}}, "expected numbers [32, 2] for this model");
  refused({}, {{a.name, {2}, DType::f32}, b},
          "blk.0.attn_q.weight.lora_a is [2], expected a matrix");
  refused({}, {a, b, {"blk.9.attn_q.weight.lora_a", {2, 32}, DType::f32}},
          "blk.9.attn_q.weight.lora_a is for no linear map of this model");
  refused({}, {}, "has no matrices of an adapter");
  write_file(folder, {}, {a, b});
  expect_error([&] { load_model(folder / "adapter.gguf"); }, "is an adapter, expected a model");
}

}  // namespace
}  // namespace heed::checkpoint

// LoRA adapters compared with Python's peft. The expected numbers come from
// tests/golden/adapters/make.py.
#include <gtest/gtest.h>

#include "heed/checkpoint/adapter_directory.h"
#include "heed/checkpoint/gguf/adapter.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/io/gguf/gguf_file.h"
#include "heed/ops/rows.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

struct Golden {
  const char* name;
  const char* base;
};

void PrintTo(const Golden& golden, std::ostream* out) { *out << golden.name; }

std::string name_of(const ::testing::TestParamInfo<Golden>& one) {
  std::string name = one.param.name;
  std::ranges::replace(name, '-', '_');
  return name;
}

class AdapterGolden : public ::testing::TestWithParam<Golden> {
 protected:
  AdapterGolden() {
    for (Parameter& parameter : model_->parameters().all()) parameter.trainable = false;
  }

  model::Memory encode(Context& context) const {
    if (!model_->has_encoder()) return {};
    return model_->encode(context, model_->has_decoder() ? model::Tokens{source_, source_offsets_}
                                                         : model::Tokens{ids_, offsets_});
  }
  Tensor states(Context& context) const {
    const model::Memory memory = encode(context);
    return model_->has_decoder() ? model_->decode_all(context, {ids_, offsets_}, memory)
                                 : memory.states;
  }
  Tensor logits() const {
    Context context;
    const Tensor all = states(context);
    return model_->logits(context, all);
  }
  std::vector<int32_t> optional_integers(const std::string& name) const {
    return inputs_->contains(name) ? integers(inputs_->get(name)) : std::vector<int32_t>();
  }
  /// The loss of make.py, and its backward pass.
  double loss(Context& context) const {
    std::vector<int32_t> rows = optional_integers("mlm_rows"), targets;
    if (!rows.empty()) targets = optional_integers("mlm_targets");
    if (model_->has_encoder() && model_->has_decoder()) targets = optional_integers("targets");
    if (!model_->has_encoder())
      for (size_t b = 0; b + 1 < offsets_.size(); ++b)
        for (int32_t i = offsets_[b]; i + 1 < offsets_[b + 1]; ++i) {
          rows.push_back(i);
          targets.push_back(ids_[static_cast<size_t>(i) + 1]);
        }
    Tensor all = states(context);
    if (!rows.empty()) all = ops::gather_rows(context, all, rows);
    const double sum = model_->head().loss(context, all, targets, {}).smoothed;
    context.tape->backward();
    return sum;
  }

  const std::filesystem::path folder_ = golden_folder("adapters") / GetParam().name;
  std::unique_ptr<model::Transformer> model_ =
      load_model(golden_folder("families") / GetParam().base);
  std::shared_ptr<const io::SafetensorsFile> inputs_ = io::SafetensorsFile::open(
      golden_folder("families") / GetParam().base / "expected.safetensors");
  std::shared_ptr<const io::SafetensorsFile> expected_ =
      io::SafetensorsFile::open(folder_ / "expected.safetensors");
  const std::vector<int32_t> ids_ = integers(inputs_->get("input_ids")),
                             offsets_ = integers(inputs_->get("offsets")),
                             source_ = optional_integers("source_ids"),
                             source_offsets_ = optional_integers("source_offsets");
  LoadedAdapter adapter_ = load_adapter(folder_, *model_);
};

TEST_P(AdapterGolden, LogitsEqualTheReference) {
  const Tensor plain = logits();
  model_->attach({{&adapter_.lora->updates()}});
  EXPECT_LT(difference(logits(), expected_->get("logits")), 1e-4);
  model_->attach({});
  EXPECT_EQ(difference(logits(), plain), 0);
}

TEST_P(AdapterGolden, GradientsEqualTheReference) {
  model_->attach({{&adapter_.lora->updates()}});
  Gradients gradients(adapter_.lora->parameters().all());
  Tape tape(gradients);
  Context context{.tape = &tape};
  const double expected = expected_->get("loss").data<float>()[0];
  EXPECT_NEAR(loss(context) / expected, 1, 1e-5);
  // The gradients take the place of the matrices, so that they get the names of the file.
  for (Parameter& parameter : adapter_.lora->parameters().all())
    parameter.value = gradients.of(parameter).materialized();
  size_t compared = 0;
  for (const auto& [name, gradient] : adapter_tensors(*adapter_.lora)) {
    EXPECT_LT(difference(gradient, expected_->get("gradient." + name)), 1e-4) << name;
    ++compared;
  }
  EXPECT_EQ(compared + 2, expected_->names().size());
}

TEST_P(AdapterGolden, IsTheSameAfterSavingAndLoading) {
  const TemporaryDirectory saved;
  save_adapter(saved.path(), *model_, *adapter_.lora, adapter_.config);
  const LoadedAdapter again = load_adapter(saved.path(), *model_);
  model_->attach({{&again.lora->updates()}});
  EXPECT_LT(difference(logits(), expected_->get("logits")), 1e-4);
  const auto before = io::SafetensorsFile::open(folder_ / "adapter_model.safetensors");
  const auto after = io::SafetensorsFile::open(saved / "adapter_model.safetensors");
  ASSERT_EQ(before->names(), after->names());
  for (const std::string& name : before->names())
    EXPECT_EQ(difference(after->get(name), before->get(name)), 0) << name;
}

TEST_P(AdapterGolden, AddedToTheWeightsGivesTheSameLogits) {
  merge_adapter(*model_, adapter_.lora->updates(), 1.0f);
  EXPECT_LT(difference(logits(), expected_->get("logits")), 1e-4);
}

/// An adapter of the head, beside which peft saves the head.
class HeadAdapterGolden : public AdapterGolden {};

TEST_P(HeadAdapterGolden, IsMergedIntoTheModelThatHasTheHead) {
  EXPECT_TRUE(adapter_.replaced.empty());
  EXPECT_TRUE(adapter_.warnings.empty());
  merge_adapter(*model_, adapter_.lora->updates(), 1.0f);
  EXPECT_LT(difference(logits(), expected_->get("logits")), 1e-4);
}

TEST_P(HeadAdapterGolden, BringsTheHeadToAModelThatHasAnother) {
  model_->parameters().named("lm_head.weight").value.data<float>()[3] += 1.0f;
  const LoadedAdapter again = load_adapter(folder_, *model_);
  ASSERT_EQ(again.replaced.size(), 1u);
  EXPECT_EQ(again.replaced[0].name, "base_model.model.lm_head.base_layer.weight");
  replace_weights(*model_, again);
  merge_adapter(*model_, again.lora->updates(), 1.0f);
  EXPECT_LT(difference(logits(), expected_->get("logits")), 1e-4);
}

/// An adapter of which llama.cpp's converter has made adapter.gguf.
class GgufAdapterGolden : public AdapterGolden {};

TEST_P(GgufAdapterGolden, IsWrittenAsLlamaCppsConverterWritesIt) {
  const TemporaryDirectory saved;
  save_gguf_adapter(saved / "adapter.gguf", *model_, adapter_, DType::f32, "name");
  const auto expected = io::GgufFile::open(folder_ / "adapter.gguf");
  const auto found = io::GgufFile::open(saved / "adapter.gguf");
  ASSERT_EQ(found->names(), expected->names());
  for (const std::string& name : expected->names()) {
    const Tensor a = found->get(name), b = expected->get(name);
    ASSERT_EQ(a.shape(), b.shape()) << name;
    EXPECT_TRUE(std::ranges::equal(a.values<float>(), b.values<float>())) << name;
  }
  EXPECT_EQ(found->metadata().keys(), expected->metadata().keys());
  for (const char* key : {"general.architecture", "general.type", "adapter.type"})
    EXPECT_EQ(found->metadata().get<std::string>(key), expected->metadata().get<std::string>(key));
  EXPECT_EQ(found->metadata().get<double>("adapter.lora.alpha"),
            expected->metadata().get<double>("adapter.lora.alpha"));
}

TEST_P(GgufAdapterGolden, IsReadFromLlamaCppsFile) {
  const LoadedAdapter found = load_adapter(folder_ / "adapter.gguf", *model_);
  model_->attach({{&found.lora->updates()}});
  EXPECT_LT(difference(logits(), expected_->get("logits")), 1e-4);
  const TemporaryDirectory saved;
  save_adapter(saved.path(), *model_, *found.lora, found.config);
  EXPECT_EQ(read_adapter_config(saved.path()).alpha, adapter_.config.alpha);
  const auto before = io::SafetensorsFile::open(folder_ / "adapter_model.safetensors");
  const auto after = io::SafetensorsFile::open(saved / "adapter_model.safetensors");
  ASSERT_EQ(before->names(), after->names());
  for (const std::string& name : before->names())
    EXPECT_EQ(difference(after->get(name), before->get(name)), 0) << name;
}

INSTANTIATE_TEST_SUITE_P(Adapters, GgufAdapterGolden,
                         ::testing::Values(Golden{"attention", "llama3"}, Golden{"t5", "t5"},
                                           Golden{"phi3", "phi3"}, Golden{"gpt-neox", "gpt-neox"}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Adapters, HeadAdapterGolden, ::testing::Values(Golden{"head", "llama3"}),
                         name_of);

INSTANTIATE_TEST_SUITE_P(Adapters, AdapterGolden,
                         ::testing::Values(Golden{"llama", "llama3"}, Golden{"gpt2", "gpt2"},
                                           Golden{"bert", "bert"}, Golden{"t5", "t5"},
                                           Golden{"attention", "llama3"}, Golden{"phi3", "phi3"},
                                           Golden{"gpt-neox", "gpt-neox"}),
                         name_of);

}  // namespace
}  // namespace heed::checkpoint

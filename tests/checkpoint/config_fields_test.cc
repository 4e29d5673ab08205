// Golden checkpoints with other fields and tensors. The expected logits come from
// tests/golden/config_fields/make.py.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/checkpoint/model_directory.h"
#include "heed/kernels/as_f32.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

const Json& recorded_fields() {
  static const Json json = [] {
    const fs::path file = golden_folder("config_fields") / "expected.json";
    return parse_json(read_file(file), file.string());
  }();
  return json;
}

void write_fields(const fs::path& folder, const Json& config) {
  std::ofstream(folder / "config.json") << config;
}

Json config_of_golden(const std::string& checkpoint) {
  const fs::path file = golden_folder("families") / checkpoint / "config.json";
  return parse_json(read_file(file), file.string());
}

std::vector<io::NamedTensor> tensors_of_golden(const std::string& checkpoint) {
  const auto file = io::open_model_tensors(golden_folder("families") / checkpoint);
  std::vector<io::NamedTensor> tensors;
  for (const std::string& name : file->names())
    tensors.push_back({name, kernels::as_f32(file->get(name)).clone()});
  return tensors;
}

Tensor scaled(Tensor tensor, float factor) {
  Tensor result = tensor.clone();
  for (int64_t i = 0; i < result.elements(); ++i) result.data<float>()[i] *= factor;
  return result;
}

/// Writes the checkpoint that a case describes.
void write_case(const Json& own, const fs::path& folder) {
  const auto checkpoint = own["checkpoint"].get<std::string>();
  Json config = config_of_golden(checkpoint);
  config.update(own["fields"]);
  for (const Json& field : own["without"]) config.erase(field.get<std::string>());
  write_fields(folder, config);
  std::vector<io::NamedTensor> tensors = tensors_of_golden(checkpoint);
  for (const auto& [name, recipe] : own["tensors"].items()) {
    const auto like = std::ranges::find(tensors, recipe[0].get<std::string>(),
                                        [](const io::NamedTensor& one) { return one.name; });
    ASSERT_NE(like, tensors.end());
    tensors.push_back({name, scaled(like->tensor, recipe[1].get<float>())});
  }
  const auto prefix = own["prefix"].get<std::string>();
  for (io::NamedTensor& one : tensors)
    if (one.name.starts_with(prefix)) one.name = one.name.substr(prefix.size());
  io::write_safetensors(folder / "model.safetensors", tensors, {});
}

Tensor last_logits(const model::Transformer& model) {
  Context context;
  const auto tokens = recorded_fields()["tokens"].get<std::vector<int32_t>>();
  const auto source = recorded_fields()["source"].get<std::vector<int32_t>>();
  const model::Tokens input{tokens, {0, static_cast<int32_t>(tokens.size())}};
  const model::Tokens read{source, {0, static_cast<int32_t>(source.size())}};
  Tensor states;
  if (!model.has_decoder())
    states = model.encode(context, input).states;
  else if (model.has_encoder())
    states = model.decode_all(context, input, model.encode(context, read));
  else
    states = model.decode_all(context, input);
  return model.logits(context, states.row_slice(states.rows() - 1, states.rows()));
}

class ConfigFieldsGolden : public ::testing::TestWithParam<size_t> {};

TEST_P(ConfigFieldsGolden, TheLogitsAreThoseOfTheReference) {
  const Json& own = recorded_fields()["cases"][GetParam()];
  const TemporaryDirectory own_folder;
  const fs::path folder = own_folder.path();
  write_case(own, folder);
  const auto model = load_model(folder);
  const auto logits = own["logits"].get<std::vector<float>>();
  Tensor expected = Tensor::empty({1, std::ssize(logits)});
  std::ranges::copy(logits, expected.data<float>());
  EXPECT_LT(difference(last_logits(*model), expected), 1e-4) << own["name"];
}

INSTANTIATE_TEST_SUITE_P(
    , ConfigFieldsGolden, ::testing::Range(size_t{0}, recorded_fields()["cases"].size()),
    [](const auto& parameter) {
      std::string name =
          recorded_fields()["cases"][parameter.param]["name"].template get<std::string>();
      for (char& letter : name)
        if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
      return name;
    });

TEST(ConfigFields, ADecoderWithoutAHeadHasStatesButNoLogits) {
  const TemporaryDirectory own_folder;
  const fs::path folder = own_folder.path();
  write_fields(folder, config_of_golden("llama2"));
  std::vector<io::NamedTensor> tensors = tensors_of_golden("llama2");
  std::erase_if(tensors, [](const auto& one) { return one.name == "lm_head.weight"; });
  io::write_safetensors(folder / "model.safetensors", tensors, {});
  const auto model = load_model(folder);
  ASSERT_EQ(model->config().warnings.size(), 1u);
  EXPECT_NE(model->config().warnings[0].find("lm_head.weight is missing"), std::string::npos);
  EXPECT_FALSE(build_model(folder)->config().has_head);
  EXPECT_THROW(last_logits(*model), Error);
  // It is saved as the class without a head, and read again.
  const fs::path copy = folder / "copy";
  save_model(copy, *model, {});
  EXPECT_FALSE(load_model(copy)->config().has_head);
}

TEST(ConfigFields, ABertWithoutAPoolerIsReadWithoutOne) {
  const TemporaryDirectory own_folder;
  const fs::path folder = own_folder.path();
  write_fields(folder, config_of_golden("bert-pooled"));
  std::vector<io::NamedTensor> tensors = tensors_of_golden("bert-pooled");
  EXPECT_TRUE(load_model(golden_folder("families") / "bert-pooled")->config().pooler);
  std::erase_if(tensors, [](const auto& one) { return one.name.starts_with("pooler."); });
  io::write_safetensors(folder / "model.safetensors", tensors, {});
  EXPECT_FALSE(load_model(folder)->config().pooler);
}

TEST(ConfigFields, TablesThatAFamilyCannotHaveApartAreRefused) {
  const TemporaryDirectory own_folder;
  const fs::path folder = own_folder.path();
  write_fields(folder, config_of_golden("bart"));
  std::vector<io::NamedTensor> tensors = tensors_of_golden("bart");
  const auto shared = std::ranges::find(tensors, "model.shared.weight",
                                        [](const io::NamedTensor& one) { return one.name; });
  ASSERT_NE(shared, tensors.end());
  const Tensor other = scaled(shared->tensor, 2.0f), same = scaled(shared->tensor, 1.0f);
  tensors.push_back({"model.encoder.embed_tokens.weight", other});
  io::write_safetensors(folder / "model.safetensors", tensors, {});
  try {
    load_model(folder);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what())
                  .find("model.encoder.embed_tokens.weight and "
                        "model.shared.weight differ"),
              std::string::npos)
        << error.what();
  }
  tensors.back().tensor = same;
  io::write_safetensors(folder / "model.safetensors", tensors, {});
  EXPECT_NO_THROW(load_model(folder));
}

TEST(ConfigFields, ATensorThatNothingReadsIsRefused) {
  for (const char* checkpoint : {"llama2", "bert", "bart", "t5", "gpt2", "modernbert"}) {
    const TemporaryDirectory own_folder;
    const fs::path folder = own_folder.path();
    write_fields(folder, config_of_golden(checkpoint));
    std::vector<io::NamedTensor> tensors = tensors_of_golden(checkpoint);
    tensors.push_back({"lm_head.scale", Tensor::zeros({3})});
    io::write_safetensors(folder / "model.safetensors", tensors, {});
    EXPECT_THROW(load_model(folder), Error) << checkpoint;
  }
}

}  // namespace
}  // namespace heed::checkpoint

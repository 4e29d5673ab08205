// The padding token learns nothing when it is looked up, in the families whose embedding has a
// padding_idx in transformers. The expected numbers come from
// tests/golden/padding_gradients/make.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/file.h"
#include "heed/checkpoint/model_directory.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

/// A golden family with a padding token.
std::unique_ptr<model::Transformer> load_with_padding(const std::string& name, int32_t pad) {
  const TemporaryDirectory folder;
  for (const fs::directory_entry& file : fs::directory_iterator(golden_folder("families") / name))
    if (file.is_regular_file() && file.path().filename() != "expected.safetensors")
      fs::copy_file(file.path(), folder / file.path().filename());
  Json config = Json::parse(read_file(folder / "config.json"));
  config["pad_token_id"] = pad;
  write_file_atomically(folder / "config.json", config.dump());
  return load_model(folder.path());
}

/// What the embedding learns from a text, half the sum of squares of whose states is the loss.
Tensor gradient_of_embedding(model::Transformer& model, const std::vector<int32_t>& text) {
  Gradients gradients(model.parameters().all());
  Tape tape(gradients);
  Context context{.tape = &tape};
  const std::vector<int32_t> offsets{0, static_cast<int32_t>(text.size())};
  const Tensor states = model.has_encoder() ? model.encode(context, {text, offsets}).states
                                            : model.decode_all(context, {text, offsets}, {});
  tape.add(states, states.clone());
  tape.backward();
  return gradients.of(model.parameters().named("model.shared.weight")).materialized();
}

TEST(PaddingGolden, LookingUpThePaddingTokenTeachesWhatItTeachesTheReference) {
  const Json families =
      Json::parse(read_file(golden_folder("padding_gradients") / "expected.json"));
  for (const auto& [name, expected] : families.items()) {
    SCOPED_TRACE(name);
    const auto pad = expected.at("pad").get<int32_t>();
    const auto model = load_with_padding(name, pad);
    const Tensor gradient = gradient_of_embedding(*model, {11, pad, 12, 13, pad, 14});
    const Tensor row = gradient.row_slice(pad, pad + 1);
    Tensor wanted = Tensor::zeros(row.shape());
    const auto values = expected.at("row").get<std::vector<float>>();
    std::ranges::copy(values, wanted.data<float>());
    if (values.empty())
      EXPECT_TRUE(std::ranges::all_of(row.values<float>(), [](float g) { return g == 0; }));
    else
      EXPECT_LT(difference(row, wanted), 1e-4);
    const Tensor other = gradient.row_slice(11, 12);
    EXPECT_TRUE(std::ranges::any_of(other.values<float>(), [](float g) { return g != 0; }));
  }
}

}  // namespace
}  // namespace heed::checkpoint

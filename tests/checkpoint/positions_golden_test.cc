// Positions that depend on the tokens or on the file. tests/golden/padding/make.py made the
// expected numbers of texts with padding tokens.
#include <gtest/gtest.h>

#include "heed/checkpoint/model_directory.h"
#include "heed/model/transformer.h"
#include "tests/base/testing.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {
namespace {

using Json = nlohmann::json;

class PaddingInAText : public ::testing::TestWithParam<const char*> {};

TEST_P(PaddingInAText, HasThePositionThatItHasInTransformers) {
  const auto file = golden_folder("padding") / "expected.json";
  const Json golden = parse_json(read_file(file), file.string())[GetParam()];
  std::vector<int32_t> ids, offsets{0};
  for (const Json& sequence : golden["sequences"]) {
    for (const Json& id : sequence) ids.push_back(id);
    offsets.push_back(static_cast<int32_t>(ids.size()));
  }
  std::vector<float> states;
  for (const Json& row : golden["states"])
    for (const Json& value : row) states.push_back(value);
  const auto model = load_model(golden_folder("families") / GetParam());
  Context context;
  const Tensor found = model->encode(context, {ids, offsets}).states;
  EXPECT_LT(difference(found, Tensor::of(found.shape(), states)), 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Families, PaddingInAText,
                         ::testing::Values("roberta", "xlm-roberta", "mpnet", "m2m-100"),
                         case_name);

/// A copy of the small Marian model whose file has these rows as sinusoids of both stacks.
std::unique_ptr<model::Transformer> marian_with_positions(const Tensor& rows) {
  const auto original = golden_folder("families") / "marian";
  const TemporaryDirectory folder;
  const auto file = io::SafetensorsFile::open(original / "model.safetensors");
  std::vector<io::NamedTensor> tensors;
  for (const std::string& name : file->names())
    if (name.find("embed_positions") == std::string::npos)
      tensors.push_back({name, file->get(name)});
  for (const char* stack : {"encoder", "decoder"})
    tensors.push_back({fmt::format("model.{}.embed_positions.weight", stack), rows});
  io::write_safetensors(folder / "model.safetensors", tensors, {});
  std::filesystem::copy(original / "config.json", folder / "config.json");
  return load_model(folder.path());
}

TEST(StoredSinusoids, AreReadFromTheFile) {
  const auto computed = load_model(golden_folder("families") / "marian");
  const model::ModelConfig& c = computed->config();
  // Without positions, the order of the tokens does not matter to an encoder.
  const auto model = marian_with_positions(Tensor::zeros({c.max_positions, c.d_model}));
  Context context;
  const auto states = [&](const model::Transformer& of, const std::vector<int32_t>& ids) {
    return of.encode(context, {ids, {0, static_cast<int32_t>(ids.size())}}).states;
  };
  const Tensor found = states(*model, {7, 9, 12}), other = states(*model, {12, 9, 7});
  EXPECT_LT(difference(found.row_slice(0, 1), other.row_slice(2, 3)), 1e-5);
  const Tensor with = states(*computed, {7, 9, 12});
  EXPECT_GT(difference(found, with), 1e-2);
}

TEST(StoredSinusoids, OfAnotherShapeAreComputed) {
  const auto computed = load_model(golden_folder("families") / "marian");
  const auto model = marian_with_positions(Tensor::zeros({3, 2}));
  Context context;
  const std::vector<int32_t> ids{7, 9, 12}, offsets{0, 3};
  EXPECT_EQ(difference(model->encode(context, {ids, offsets}).states,
                       computed->encode(context, {ids, offsets}).states),
            0.0);
}

}  // namespace
}  // namespace heed::checkpoint

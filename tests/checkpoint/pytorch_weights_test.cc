// Models and adapters whose weights are in files of torch.save.
#include <gtest/gtest.h>

#include "heed/base/file.h"
#include "heed/checkpoint/adapter_directory.h"
#include "heed/checkpoint/model_directory.h"
#include "tests/base/testing.h"
#include "tests/io/torch_bytes.h"

namespace heed::checkpoint {
namespace {

namespace fs = std::filesystem;

enum class Format { zip, legacy };

/// A file of torch.save with these tensors, which are f32. Their dict is the item `key` of another,
/// if that is given.
std::string torch_file(const io::TensorSource& source, Format format, const std::string& key = "") {
  using namespace io::pickled;
  std::vector<std::string> items, storages;
  std::vector<std::pair<int64_t, std::string>> counted;
  for (const std::string& name : source.names()) {
    const Tensor tensor = source.get(name);
    tensor.check_dtype(DType::f32);
    std::vector<std::string> shape, strides;
    int64_t stride = tensor.elements();
    for (int axis = 0; axis < tensor.shape().rank(); ++axis) {
      stride /= tensor.shape()[axis];
      shape.push_back(integer(tensor.shape()[axis]));
      strides.push_back(integer(stride));
    }
    const std::string own = storage(std::to_string(storages.size()), tensor.elements());
    items.push_back(name);
    items.push_back(call(global("torch._utils", "_rebuild_tensor_v2"),
                         {own, integer(0), tuple(shape), tuple(strides), "\x89", hooks()}));
    storages.emplace_back(reinterpret_cast<const char*>(tensor.raw()),
                          static_cast<size_t>(tensor.bytes()));
    counted.emplace_back(tensor.elements(), storages.back());
  }
  const std::string value = key.empty() ? dict(items) : dict({key, dict(items)});
  return format == Format::zip ? io::torch_zip(value, storages).bytes()
                               : io::torch_legacy(value, counted);
}

/// Copies a golden directory; the weights become a file of torch.save.
void copy_as_torch(const fs::path& from, const fs::path& to, const std::string& weights,
                   const std::string& torch_weights, Format format) {
  fs::remove_all(to);
  fs::copy(from, to, fs::copy_options::recursive);
  const auto source = io::SafetensorsFile::open(from / weights);
  write_quickly(to / torch_weights, torch_file(*source, format));
  fs::remove(to / weights);
}

const fs::path kGolden = fs::path(HEED_SOURCE_DIR) / "tests/golden";

class PyTorchModel : public testing::TestWithParam<const char*> {};

TEST_P(PyTorchModel, HasTheWeightsOfItsSafetensors) {
  const TemporaryDirectory folder;
  const fs::path original = kGolden / GetParam(), copy = folder / "copy";
  const auto expected = load_model(original);
  for (const Format format : {Format::zip, Format::legacy}) {
    copy_as_torch(original, copy, "model.safetensors", "pytorch_model.bin", format);
    const auto found = load_model(copy);
    for (const Parameter& parameter : expected->parameters().all()) {
      const Tensor& value = found->parameters().named(parameter.name).value;
      ASSERT_EQ(value.shape(), parameter.shape) << parameter.name;
      EXPECT_TRUE(std::ranges::equal(value.values<float>(), parameter.value.values<float>()))
          << parameter.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, PyTorchModel,
                         testing::Values("families/llama3", "families/gpt2", "families/marian",
                                         "families/bert"),
                         [](const auto& info) { return std::string(info.param).substr(9); });

TEST(PyTorchModel, SaysWhatItsFileAsksFor) {
  const TemporaryDirectory folder;
  fs::copy(kGolden / "families/llama3", folder / "m", fs::copy_options::recursive);
  fs::remove(folder / "m/model.safetensors");
  write_quickly(
      folder / "m/pytorch_model.bin",
      io::torch_zip(io::pickled::global("os", "system") + io::pickled::text("true") + "\x85R", {})
          .bytes());
  expect_error([&] { load_model(folder / "m"); },
               "m/pytorch_model.bin: the pickle names os.system, which is not among");
}

TEST(PyTorchModel, NamesATensorThatDoesNotFit) {
  const TemporaryDirectory folder;
  copy_as_torch(kGolden / "families/llama3", folder / "m", "model.safetensors", "pytorch_model.bin",
                Format::zip);
  const auto source = io::SafetensorsFile::open(kGolden / "families/gpt2/model.safetensors");
  write_quickly(folder / "m/pytorch_model.bin", torch_file(*source, Format::zip));
  expect_error([&] { load_model(folder / "m"); }, "m/pytorch_model.bin: ");
  // A checkpoint of training.
  const auto own = io::SafetensorsFile::open(kGolden / "families/llama3/model.safetensors");
  write_quickly(folder / "m/pytorch_model.bin", torch_file(*own, Format::zip, "state_dict"));
  EXPECT_NO_THROW(load_model(folder / "m"));
}

TEST(PyTorchAdapter, HasTheMatricesOfItsSafetensors) {
  const TemporaryDirectory folder;
  const auto model = load_model(kGolden / "families/gpt2");
  const LoadedAdapter expected = load_adapter(kGolden / "adapters/gpt2", *model);
  for (const Format format : {Format::zip, Format::legacy}) {
    copy_as_torch(kGolden / "adapters/gpt2", folder / "adapter", "adapter_model.safetensors",
                  "adapter_model.bin", format);
    const LoadedAdapter found = load_adapter(folder / "adapter", *model);
    const auto wanted = adapter_tensors(*expected.lora), tensors = adapter_tensors(*found.lora);
    ASSERT_EQ(tensors.size(), wanted.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      EXPECT_EQ(tensors[i].name, wanted[i].name);
      EXPECT_TRUE(
          std::ranges::equal(tensors[i].tensor.values<float>(), wanted[i].tensor.values<float>()));
    }
  }
}

}  // namespace
}  // namespace heed::checkpoint

#include "heed/io/safetensors.h"
#include "heed/kernels/as_f32.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <span>

#include "tests/base/testing.h"
#include "tests/io/safetensors_bytes.h"

namespace heed::io {
namespace {

namespace fs = std::filesystem;

const fs::path kGoldenTensors = fs::path(HEED_SOURCE_DIR) / "tests/golden/safetensors";

std::vector<NamedTensor> small_tensors() {
  const std::vector<float> a{0.5f, -1.0f, 2.0f};
  const std::vector<int32_t> ids{7, -8};
  Tensor b = Tensor::empty({2}, DType::bf16);
  b.data<bfloat16>()[0] = bfloat16(1.5f);
  b.data<bfloat16>()[1] = bfloat16(3.0f);
  return {{"b", b},
          {"a", Tensor::of({1, 3}, std::span(a))},
          {"none", Tensor::zeros({0, 2})},
          {"one", Tensor::full({}, 4)},
          {"ids", Tensor::of({2}, std::span(ids))}};
}

void write_small(const fs::path& path) {
  write_safetensors(path, small_tensors(), {{"step", "3"}, {"format", "pt"}});
}

TEST(SafetensorsGolden, ReadsEveryDtypeAsTheReferenceDoes) {
  const auto file = SafetensorsFile::open(kGoldenTensors / "all_dtypes.safetensors");
  const auto expected = nlohmann::json::parse(read_file(kGoldenTensors / "expected.json"));
  for (const auto& [name, value] : expected.items()) {
    const Tensor tensor = file->get(name);
    const auto elements = value["elements"].get<std::vector<std::string>>();
    ASSERT_EQ(static_cast<size_t>(tensor.elements()), elements.size()) << name;
    std::vector<int64_t> sizes;
    for (int axis = 0; axis < tensor.shape().rank(); ++axis) sizes.push_back(tensor.shape()[axis]);
    EXPECT_EQ(value["shape"], sizes) << name;
    for (size_t i = 0; i < elements.size(); ++i) {
      const double found = tensor.dtype() == DType::i32
                               ? tensor.values<int32_t>()[i]
                               : static_cast<double>(kernels::as_f32(tensor).values<float>()[i]);
      const double wanted = std::stod(elements[i]);
      EXPECT_EQ(found, wanted) << name << ", " << i;
      EXPECT_EQ(std::signbit(found), std::signbit(wanted)) << name << ", " << i;
    }
  }
}

TEST(SafetensorsGolden, ReadsNamesMetadataAndDtypes) {
  const auto file = SafetensorsFile::open(kGoldenTensors / "all_dtypes.safetensors");
  EXPECT_EQ(file->metadata().at("note"), "ünï");
  const std::vector<std::string> names = file->names();
  EXPECT_EQ(names.size(), 12u);
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_TRUE(file->contains("f16"));
  EXPECT_FALSE(file->contains("f8"));
  EXPECT_EQ(file->entry("f16").dtype, "F16");
  EXPECT_EQ(file->get("bf16").dtype(), DType::bf16);
  EXPECT_EQ(file->get("f16").dtype(), DType::f16);
  EXPECT_EQ(file->get("i64").dtype(), DType::i32);
}

TEST(SafetensorsGolden, RejectsUnsupportedDtypesOnlyWhenRead) {
  const auto file = SafetensorsFile::open(kGoldenTensors / "all_dtypes.safetensors");
  EXPECT_EQ(file->entry("skipped.bool").shape, Shape{3});
  expect_error([&] { file->get("skipped.bool"); },
               "all_dtypes.safetensors: skipped.bool is BOOL, which heed does not support");
}

TEST(SafetensorsGolden, WritesTheReferenceFileByteForByte) {
  const TemporaryDirectory folder;
  write_small(folder / "model.safetensors");
  EXPECT_EQ(read_file(folder / "model.safetensors"),
            read_file(kGoldenTensors / "written_by_heed.safetensors"));
}

TEST(WriteSafetensors, WrittenTensorsAreReadBack) {
  const TemporaryDirectory folder;
  write_small(folder / "model.safetensors");
  const auto file = SafetensorsFile::open(folder / "model.safetensors");
  for (const auto& [name, tensor] : small_tensors()) {
    const Tensor found = file->get(name);
    EXPECT_EQ(found.shape(), tensor.shape()) << name;
    ASSERT_EQ(found.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(std::memcmp(found.raw(), tensor.raw(), static_cast<size_t>(found.bytes())), 0);
  }
  EXPECT_EQ(file->metadata().at("step"), "3");
}

TEST(WriteSafetensors, PreservesF16) {
  const TemporaryDirectory folder;
  Tensor half = Tensor::empty({2}, DType::f16);
  half.data<float16>()[0] = float16(1.5f);
  half.data<float16>()[1] = float16(-2.0f);
  write_safetensors(folder / "half", {{"half", half}}, {});
  const auto file = SafetensorsFile::open(folder / "half");
  EXPECT_EQ(file->entry("half").dtype, "F16");
  EXPECT_EQ(kernels::as_f32(file->get("half")).values<float>()[1], -2.0f);
  file->release("half");
  EXPECT_EQ(kernels::as_f32(file->get("half")).values<float>()[0], 1.5f);
}

TEST(WriteSafetensors, PreservesQuantisedTensors) {
  const TemporaryDirectory folder;
  std::vector<NamedTensor> tensors{{"odd", Tensor::zeros({3}, DType::bf16)}};
  for (const DType dtype : {DType::q8_0, DType::q4_0, DType::q4_1, DType::q6_K}) {
    Tensor blocks = Tensor::zeros({2, 512}, dtype);
    for (int64_t i = 0; i < blocks.bytes(); ++i) blocks.raw()[i] = static_cast<std::byte>(i % 100);
    tensors.push_back({std::string(name_of(dtype)), blocks});
  }
  write_safetensors(folder / "model", tensors, {});
  const auto file = SafetensorsFile::open(folder / "model");
  EXPECT_EQ(file->entry("q8_0").dtype, "U8");
  EXPECT_EQ(file->entry("q8_0").shape, Shape({2, 544}));
  for (const auto& [name, tensor] : tensors) {
    const Tensor found = file->get(name);
    ASSERT_EQ(found.dtype(), tensor.dtype()) << name;
    ASSERT_EQ(found.shape(), tensor.shape()) << name;
    EXPECT_EQ(std::memcmp(found.raw(), tensor.raw(), static_cast<size_t>(tensor.bytes())), 0);
  }
}

TEST(SafetensorsFile, RejectsRowsThatAreNotWholeBlocks) {
  const TemporaryDirectory folder;
  write_quickly(folder / "model", file_bytes(R"({"__metadata__": {"w": "q8_0"},
                               "w": {"dtype": "U8", "shape": [2, 33], "data_offsets": [0, 66]}})",
                                             std::string(66, '\0')));
  expect_error([&] { SafetensorsFile::open(folder / "model")->get("w"); },
               "w has rows of 33 bytes, expected a multiple of a q8_0 block (34 bytes)");
}

TEST(WriteSafetensors, WritesAFileWithoutTensors) {
  const TemporaryDirectory folder;
  write_safetensors(folder / "model.safetensors", {}, {});
  EXPECT_TRUE(SafetensorsFile::open(folder / "model.safetensors")->names().empty());
}

TEST(WriteSafetensors, AlignsTheData) {
  const TemporaryDirectory folder;
  for (const size_t length : {1, 7, 8, 9, 30, 63, 64}) {
    const std::string name(length, 'n');
    write_safetensors(folder / "f", {{name, Tensor::full({3}, 1)}}, {});
    const auto file = SafetensorsFile::open(folder / "f");
    EXPECT_EQ(file->entry(name).begin % 64, 0u);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(file->get(name).raw()) % 64, 0u);
  }
}

TEST(WriteSafetensors, RejectsDuplicateReservedAndInvalidNames) {
  const TemporaryDirectory folder;
  const fs::path path = folder / "model.safetensors";
  const auto expect = [&](const std::vector<NamedTensor>& tensors, const std::string& reason) {
    expect_error([&] { write_safetensors(path, tensors, {}); }, "model.safetensors: " + reason);
    EXPECT_FALSE(path_exists(path));
  };
  const Tensor one = Tensor::full({1}, 1);
  expect({{"a", one}, {"a", one}}, "the tensor name a is a duplicate or reserved");
  expect({{"__metadata__", one}}, "the tensor name __metadata__ is a duplicate or reserved");
  expect({{"\xff", one}}, "a tensor name or a metadata value is not valid UTF-8");
  expect({{"a", Tensor()}}, "tensor a is undefined");
}

TEST(SafetensorsFile, ViewsOutliveTheFileObject) {
  const TemporaryDirectory folder;
  const fs::path path = folder / "model.safetensors";
  write_small(path);
  Tensor first = SafetensorsFile::open(path)->get("a");
  fs::remove(path);
  EXPECT_EQ(first.values<float>()[2], 2.0f);
}

TEST(SafetensorsFile, DoesNotWriteToTheFile) {
  const TemporaryDirectory folder;
  write_small(folder / "f");
  Tensor tensor = SafetensorsFile::open(folder / "f")->get("a");
  tensor.data<float>()[0] = 9;
  EXPECT_EQ(SafetensorsFile::open(folder / "f")->get("a").values<float>()[0], 0.5f);
}

TEST(SafetensorsFile, ReadsUnalignedTensors) {
  const TemporaryDirectory folder;
  for (const char* dtype : {"F32", "I32", "BF16", "F16", "F64", "I64"}) {
    const size_t bytes = std::string(dtype).find("16") != std::string::npos   ? 2
                         : std::string(dtype).find("64") != std::string::npos ? 8
                                                                              : 4;
    const std::string header =
        fmt::format(R"({{"x":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}},)"
                    R"("y":{{"dtype":"{}","shape":[2],"data_offsets":[1,{}]}}}})",
                    dtype, 1 + 2 * bytes);
    write_quickly(folder / "f", file_bytes(header, std::string(1 + 2 * bytes, '\0')));
    const Tensor tensor = SafetensorsFile::open(folder / "f")->get("y");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.raw()) % 2, 0u);
    if (tensor.dtype() == DType::i32)
      EXPECT_EQ(tensor.values<int32_t>()[1], 0);
    else
      EXPECT_EQ(kernels::as_f32(tensor).values<float>()[1], 0.0f);
  }
}

TEST(SafetensorsFile, RejectsAnIntegerThatDoesNotFit) {
  const TemporaryDirectory folder;
  const std::string data{"\0\0\0\x80\0\0\0\0", 8};
  write_quickly(folder / "f",
                file_bytes(R"({"x":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}})", data));
  const auto file = SafetensorsFile::open(folder / "f");
  expect_error([&] { file->get("x"); }, "f: x holds 2147483648, which does not fit into 32 bits");
}

TEST(SafetensorsFile, NamesAMissingTensor) {
  const auto file = SafetensorsFile::open(kGoldenTensors / "all_dtypes.safetensors");
  expect_error([&] { file->get("absent"); }, "all_dtypes.safetensors: there is no tensor absent");
}

TEST(AsF32, AcceptsOnlyFloatingPointTensors) {
  const Tensor wide = Tensor::full({2}, 3);
  EXPECT_EQ(kernels::as_f32(wide).id(), wide.id());
  expect_error([] { kernels::as_f32(Tensor::zeros({2}, DType::i32)); }, "expected real numbers");
}

TEST(TensorList, ReturnsTensorsByName) {
  const TensorList list(small_tensors(), "the list");
  EXPECT_EQ(list.names(), (std::vector<std::string>{"a", "b", "ids", "none", "one"}));
  EXPECT_EQ(list.get("one").values<float>()[0], 4.0f);
  expect_error([&] { list.get("absent"); }, "the list: there is no tensor absent");
}

}  // namespace
}  // namespace heed::io

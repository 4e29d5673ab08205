#include "heed/io/pytorch/pytorch_file.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tests/base/testing.h"
#include "tests/io/torch_bytes.h"

namespace heed::io {
namespace {

using namespace pickled;

class PyTorch : public testing::Test {
 protected:
  std::shared_ptr<const PyTorchFile> open(const std::string& bytes) const {
    write_quickly(folder_ / "m.bin", bytes);
    return PyTorchFile::open(folder_ / "m.bin");
  }
  /// A zip archive with a dict and a storage of the floats 0, 1, 2, ...
  std::shared_ptr<const PyTorchFile> open(const std::vector<std::string>& items,
                                          size_t floats) const {
    std::vector<float> values(floats);
    std::iota(values.begin(), values.end(), 0.0f);
    return open(torch_zip(dict(items), {elements_of(values)}).bytes());
  }

  const TemporaryDirectory folder_;
};

std::vector<float> floats_of(const Tensor& tensor) {
  const auto values = tensor.values<float>();
  return {values.begin(), values.end()};
}

TEST_F(PyTorch, ReadsMatricesInPlaceAndCopiesVectors) {
  const auto file =
      open({"w", tensor(storage("0", 6), 0, {2, 3}, {3, 1}), "v",
            tensor(storage("0", 6), 4, {2}, {1}), "s", tensor(storage("0", 6), 5, {}, {})},
           6);
  EXPECT_EQ(file->names(), (std::vector<std::string>{"s", "v", "w"}));
  const Tensor w = file->get("w"), s = file->get("s");
  EXPECT_EQ(w.shape(), (Shape{2, 3}));
  EXPECT_EQ(floats_of(w), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(w.raw(), file->get("w").raw()) << "a view of the file";
  EXPECT_NE(file->get("v").raw(), w.raw() + 16);
  EXPECT_EQ(floats_of(file->get("v")), (std::vector<float>{4, 5}));
  EXPECT_EQ(s.shape(), Shape{});
  EXPECT_EQ(floats_of(s), std::vector<float>{5});
  file->release("w");
  EXPECT_EQ(floats_of(w), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  expect_error([&] { file->get("x"); }, "m.bin: there is no tensor x");
}

TEST_F(PyTorch, ReadsStridesOffsetsAndSharedStorages) {
  const auto file = open({"t", tensor(storage("0", 24), 0, {3, 2}, {1, 3}), "step",
                          tensor(storage("0", 24), 1, {2, 2}, {12, 4}), "deep",
                          tensor(storage("0", 24), 2, {2, 1, 2, 2}, {10, 7, 4, 2}), "repeated",
                          tensor(storage("0", 24), 3, {2, 3}, {1, 0}), "one",
                          tensor(storage("0", 24), 6, {1, 2}, {999, 1})},
                         24);
  EXPECT_EQ(floats_of(file->get("t")), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(floats_of(file->get("step")), (std::vector<float>{1, 5, 13, 17}));
  EXPECT_EQ(floats_of(file->get("deep")), (std::vector<float>{2, 4, 6, 8, 12, 14, 16, 18}));
  EXPECT_EQ(floats_of(file->get("repeated")), (std::vector<float>{3, 3, 3, 4, 4, 4}));
  EXPECT_EQ(floats_of(file->get("one")), (std::vector<float>{6, 7}));
  EXPECT_EQ(file->get("one").raw(), file->get("one").raw()) << "in place: the stride is not used";
}

TEST_F(PyTorch, ReadsEmptyTensors) {
  const auto file = open({"e", tensor(storage("0", 0), 0, {0, 3}, {3, 1})}, 0);
  EXPECT_EQ(file->get("e").shape(), (Shape{0, 3}));
}

TEST_F(PyTorch, ReadsEachDtypeAsSafetensorsDoes) {
  const auto v3 = [&](const std::string& key, int64_t bytes, const std::string& dtype) {
    return call(
        global("torch._utils", "_rebuild_tensor_v3"),
        {tuple({text("storage"), global("torch.storage", "UntypedStorage"), text(key), text("cpu"),
                integer(bytes)}) +
             "Q",
         integer(1), sizes({1, 2}), sizes({2, 1}), "\x89", hooks(), global("torch", dtype)});
  };
  const auto of_type = [&](const std::string& key, const std::string& type) {
    return tensor(storage(key, 3, type), 1, {1, 2}, {2, 1});
  };
  const auto file = open(
      torch_zip(dict({"bf16", of_type("0", "BFloat16Storage"), "f16", of_type("0", "HalfStorage"),
                      "f64", of_type("1", "DoubleStorage"), "i64", of_type("2", "LongStorage"),
                      "large", of_type("3", "LongStorage"), "untyped", v3("0", 6, "bfloat16"),
                      "complex", of_type("4", "ComplexFloatStorage"), "small",
                      of_type("2", "ByteStorage"), "unsigned", v3("0", 6, "uint16")}),
                {elements_of<uint16_t>({0x3f80, 0x4000, 0x4040}), elements_of<double>({1, 2, 3}),
                 elements_of<int64_t>({-1, -2, -3}), elements_of<int64_t>({0, int64_t{1} << 40, 0}),
                 std::string(24, 'x')})
          .bytes());
  const Tensor bf16 = file->get("bf16"), untyped = file->get("untyped");
  EXPECT_EQ(bf16.dtype(), DType::bf16);
  EXPECT_EQ(bf16.raw(), untyped.raw()) << "elements of an untyped storage";
  EXPECT_EQ(untyped.shape(), (Shape{1, 2}));
  EXPECT_EQ(file->get("f16").dtype(), DType::f16);
  EXPECT_EQ(floats_of(file->get("f64")), (std::vector<float>{2, 3}));
  EXPECT_EQ(file->get("i64").values<int32_t>()[1], -3);
  for (const char* name : {"bf16", "f16", "f64", "i64", "untyped"})
    EXPECT_EQ(file->dtype(name), file->get(name).dtype()) << name;
  expect_error([&] { file->get("large"); },
               "m.bin: large holds 1099511627776, which does not fit into 32 bits");
  expect_error([&] { file->get("complex"); },
               "m.bin: complex is complex64, which heed does not support (supported: F32,");
  expect_error([&] { file->dtype("unsigned"); }, "unsigned is uint16, which heed does not support");
  expect_error([&] { file->get("small"); }, "small is uint8, which heed does not support");
}

TEST_F(PyTorch, ReadsParametersOfAModule) {
  const std::string parameter = call(global("torch._utils", "_rebuild_parameter"),
                                     {tensor(storage("0", 2), 0, {2}, {1}), "\x88", hooks()});
  const std::string metadata = dict({"_metadata", dict({"", dict({"version", integer(1)})})});
  const auto file = open(torch_zip(hooks() + "(" + text("w") + parameter + "u" + metadata + "b",
                                   {elements_of<float>({7, 8})})
                             .bytes());
  EXPECT_EQ(floats_of(file->get("w")), (std::vector<float>{7, 8}));
}

TEST_F(PyTorch, FindsTheStateDictOfACheckpoint) {
  const std::string weights = dict({"w", tensor(storage("0", 2), 0, {2}, {1})});
  const std::string rates = "](G" + std::string(8, 'x') + "K\1M\1\1e";
  const std::string others = dict({"lr", "G" + std::string(8, 'x'), "name", text("\xc3\xa9"),
                                   "none", "N", "sizes", "K\1K\2\x86", "deep", rates, "bytes",
                                   call(global("_codecs", "encode"), {text("a"), text("latin1")}),
                                   "dtype", global("torch", "float16")});
  for (const char* key : {"state_dict", "model"}) {
    const auto file = open(torch_zip(dict({"hyper_parameters", others, "epoch", integer(-3), key,
                                           weights, "other", tensor(storage("0", 2), 0, {2}, {1})}),
                                     {elements_of<float>({7, 8})})
                               .bytes());
    EXPECT_EQ(file->names(), std::vector<std::string>{"w"}) << key;
  }
}

TEST_F(PyTorch, ReadsTheFormatBeforeZipArchives) {
  const std::string value =
      dict({"a", tensor(storage("0", 3, "FloatStorage", "N"), 1, {1, 2}, {2, 1}), "view",
            tensor(storage("0", 3, "FloatStorage", tuple({text("9"), integer(1), integer(2)})), 1,
                   {1}, {1}),
            "b", tensor(storage("1", 2, "LongStorage", "N"), 0, {2}, {1})});
  const auto file = open(torch_legacy(
      value, {{3, elements_of<float>({1, 2, 3})}, {2, elements_of<int64_t>({4, -5})}}));
  EXPECT_EQ(floats_of(file->get("a")), (std::vector<float>{2, 3}));
  EXPECT_EQ(floats_of(file->get("view")), std::vector<float>{3});
  EXPECT_EQ(file->get("b").values<int32_t>()[1], -5);
}

TEST_F(PyTorch, ReadsWhatOtherVersionsOfPythonWrite) {
  // Strings and an OrderedDict of Python 2.
  const std::string w = tensor(storage("0", 1), 0, {1}, {1});
  const std::string python2 = call(global("collections", "OrderedDict"), {"](](U\1w" + w + "ee"});
  // Protocol 4: a frame, short texts, and names from the stack.
  const std::string name =
      "\x8c\x0c"
      "torch._utils\x8c\x12_rebuild_tensor_v2\x93\x94";
  const std::string python3 =
      "\x95" + std::string(8, '\0') + "}\x8c\1w" +
      call(name, {storage("0", 1), integer(0), sizes({1}), sizes({1}), "\x89", hooks()}) + "s";
  // Protocol 1: integers and booleans in lines.
  const std::string python1 =
      "}" + text("w") +
      call(global("torch._utils", "_rebuild_tensor_v2"),
           {storage("0", 1), "L0L\n", "(I1\nt", "(K\1t", "I00\n", hooks()}) +
      "s";
  for (const std::string& value : {python2, python3, python1}) {
    const auto file = open(torch_zip(value, {elements_of<float>({9})}).bytes());
    EXPECT_EQ(floats_of(file->get("w")), std::vector<float>{9});
  }
}

TEST_F(PyTorch, ReadsZip64AndComments) {
  const std::string value = dict({"w", tensor(storage("0", 1), 0, {1}, {1})});
  const std::string data = elements_of<float>({9});
  ZipBytes zip = torch_zip(value, {});
  zip.add_zip64("m/data/0", data, data.size(), zip.size());
  for (const std::string& bytes :
       {zip.bytes(), zip.bytes("PK\5\6 is a comment"), zip.zip64_bytes()})
    EXPECT_EQ(floats_of(open(bytes)->get("w")), std::vector<float>{9});
}

TEST_F(PyTorch, ShardsAreReadThroughTheirIndexWhereThereAreNoSafetensors) {
  const auto write = [&](const std::string& file, const std::string& name, float value) {
    write_quickly(folder_ / file, torch_zip(dict({name, tensor(storage("0", 1), 0, {1}, {1})}),
                                            {elements_of<float>({value})})
                                      .bytes());
  };
  EXPECT_FALSE(has_model_tensors(folder_.path()));
  expect_error([&] { open_model_tensors(folder_.path()); },
               "has neither model.safetensors nor model.safetensors.index.json, nor "
               "pytorch_model.bin or its index");
  write("one.bin", "a", 1);
  write("two.bin", "b", 2);
  write_quickly(folder_ / "pytorch_model.bin.index.json",
                R"({"weight_map": {"a": "one.bin", "b": "two.bin"}})");
  EXPECT_TRUE(has_model_tensors(folder_.path()));
  const auto shards = open_model_tensors(folder_.path());
  EXPECT_EQ(shards->names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(floats_of(shards->get("b")), std::vector<float>{2});
  EXPECT_EQ(shards->dtype("b"), DType::f32);
  write("pytorch_model.bin", "whole", 3);
  EXPECT_EQ(open_model_tensors(folder_.path())->names(), std::vector<std::string>{"whole"});
  write_safetensors(folder_ / "model.safetensors", {{"safe", Tensor::full({1}, 1)}}, {});
  EXPECT_EQ(open_model_tensors(folder_.path())->names(), std::vector<std::string>{"safe"});
}

}  // namespace
}  // namespace heed::io

// Files of torch.save that ask for more than tensors, or are damaged: each is refused, and what it
// asks for is named.
#include <gtest/gtest.h>

#include "heed/io/pytorch/pytorch_file.h"
#include "tests/base/testing.h"
#include "tests/io/torch_bytes.h"

namespace heed::io {
namespace {

using namespace pickled;

class PyTorchHostile : public testing::Test {
 protected:
  void expect(const std::string& bytes, const std::string& reason) const {
    write_quickly(folder_ / "bad.bin", bytes);
    expect_error([&] { PyTorchFile::open(folder_ / "bad.bin"); }, "bad.bin: " + reason);
  }
  /// The same for a pickle with this value, in both formats.
  void expect_value(const std::string& value, const std::string& reason) const {
    expect(torch_zip(value, {elements_of<float>({1, 2})}).bytes(), reason);
    const bool stored = value.find("Storage") != value.npos;
    expect(
        stored ? torch_legacy(value, {{2, elements_of<float>({1, 2})}}) : torch_legacy(value, {}),
        reason);
  }
  /// The same for the only tensor, "w".
  void expect_tensor(const std::string& tensor, const std::string& reason) const {
    expect_value(dict({"w", tensor}), reason);
  }

  const TemporaryDirectory folder_;
};

std::string good_tensor() { return tensor(storage("0", 2), 0, {2}, {1}); }
ZipBytes good_zip() { return torch_zip(dict({"w", good_tensor()}), {elements_of<float>({1, 2})}); }

TEST_F(PyTorchHostile, APointerOfGitLfsIsNamed) {
  expect("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
         "is a pointer to a file of Git LFS: git lfs pull fetches the file");
}

TEST_F(PyTorchHostile, GlobalsOutsideTheListAreNamedAndNotCalled) {
  const auto refused = [](const std::string& name) {
    return "the pickle names " + name + ", which is not among the few names that heed reads";
  };
  const std::string argument = tuple({text("touch /tmp/owned")});
  for (const auto& [module, name] :
       std::vector<std::pair<std::string, std::string>>{{"os", "system"},
                                                        {"posix", "system"},
                                                        {"builtins", "eval"},
                                                        {"builtins", "exec"},
                                                        {"builtins", "getattr"},
                                                        {"__builtin__", "eval"},
                                                        {"subprocess", "Popen"},
                                                        {"torch", "load"},
                                                        {"torch.hub", "load"},
                                                        {"torch._utils", "_rebuild_qtensor"},
                                                        {"torch._utils", "_rebuild_sparse_tensor"},
                                                        {"torch.serialization", "load"},
                                                        {"numpy.core.multiarray", "_reconstruct"},
                                                        {"functools", "partial"},
                                                        {"__torch__.m", "Model"},
                                                        {"collections", "defaultdict"}}) {
    const std::string reason = refused(module + "." + name);
    // Called alone, as an item, as an argument, by other instructions, and only named.
    expect_value(global(module, name) + argument + "R", reason);
    expect_tensor(global(module, name) + argument + "R", reason);
    expect_tensor(call(global("collections", "OrderedDict"), {global(module, name) + ")R"}),
                  reason);
    expect_tensor(text(module) + text(name) + "\x93" + argument + "R", reason);
    expect_tensor("(" + text("x") + "i" + module + "\n" + name + "\n", reason);
    expect_tensor("(" + global(module, name) + text("x") + "o", reason);
    expect_tensor(global(module, name) + ")\x81", reason);
    expect_tensor(global(module, name) + ")}\x92", reason);
    expect_value(global(module, name) + "0" + dict({"w", good_tensor()}), reason);
    expect_tensor(good_tensor() + global(module, name) + "b", reason);
  }
}

TEST_F(PyTorchHostile, NamesAreComparedWhole) {
  expect_value(global("torch", "_utils._rebuild_tensor_v2"),
               "the pickle names torch._utils._rebuild_tensor_v2, which is not");
  expect_value(text("torch.storage") + text("os.system") + "\x93",
               "the pickle names torch.storage.os.system");
  expect_value(global("", ""), "the pickle names ., which is not");
  expect_value(global("torch", "FloatStorage2"), "the pickle names torch.FloatStorage2");
  expect_value(global("a\x1b[2J\xff", "b"), "the pickle names a\\u001b[2J\\ufffd.b");
  expect_value(integer(1) + text("system") + "\x93",
               "the pickle names a global by an integer and a string, expected strings");
}

TEST_F(PyTorchHostile, KnownGlobalsAreUsedAsTorchUsesThem) {
  const std::string dict_class = global("collections", "OrderedDict");
  expect_value(global("torch", "FloatStorage") + tuple({integer(1)}) + "R",
               "the pickle calls torch.FloatStorage, which heed does not do");
  expect_value(global("torch", "float16") + ")R", "the pickle calls torch.float16, which heed");
  expect_value("}" + tuple({}) + "R", "the pickle calls a dict with a tuple");
  expect_value(dict_class + "]R", "the pickle calls a global with a list");
  expect_value(call(dict_class, {integer(1)}), "collections.OrderedDict has other arguments");
  expect_value(call(dict_class, {"](Ke"}), "");
  expect_value(call(dict_class, {"](K\1e"}), "collections.OrderedDict is made of other things");
  expect_value(call(global("_codecs", "encode"), {text("x"), text("zlib")}),
               "_codecs.encode has other arguments than a string and \"latin1\"");
  expect_value(call(global("torch._utils", "_rebuild_parameter"), {"}", "\x88", hooks()}),
               "torch._utils._rebuild_parameter has other arguments than a tensor");
  expect_value(dict_class + ")\x81",
               "the pickle has the instruction NEWOBJ after naming collections.OrderedDict");
  expect_value("(icollections\nOrderedDict\n",
               "the pickle has the instruction INST after naming collections.OrderedDict");
  expect_value("]}b", "the pickle sets attributes of a list from a dict");
}

TEST_F(PyTorchHostile, InstructionsThatTorchDoesNotWriteAreNamed) {
  for (const auto& [instruction, name] :
       std::vector<std::pair<std::string, std::string>>{{"N2", "DUP"},
                                                        {"F1\n", "FLOAT"},
                                                        {"Px\n", "PERSID"},
                                                        {"S'x'\n", "STRING"},
                                                        {"Vx\n", "UNICODE"},
                                                        {"(d", "DICT"},
                                                        {"(l", "LIST"},
                                                        {"Np0\n", "PUT"},
                                                        {"g0\n", "GET"},
                                                        {"\x8f", "EMPTY_SET"},
                                                        {"(\x91", "FROZENSET"},
                                                        {"\x96", "BYTEARRAY8"},
                                                        {"\x97", "NEXT_BUFFER"},
                                                        {"\x98", "READONLY_BUFFER"},
                                                        {"\xff", "255"}})
    expect_value(instruction, "the pickle has the instruction " + name + ", which heed does not");
  expect_value("\x82\x07", "the pickle asks for the extension 7 of copyreg");
  expect_value(std::string("\x83\x07\x00", 3), "the pickle asks for the extension 7 of copyreg");
  expect_value(std::string("\x84\x07\0\0\0", 5), "the pickle asks for the extension 7 of copyreg");
  expect_value("\x80\x06", "the pickle has protocol 6, expected up to 5");
}

TEST_F(PyTorchHostile, PersistentIdsAreThoseOfStorages) {
  expect_value("NQ", "a persistent id is None, expected a tuple");
  expect_value(")Q", "a persistent id is not that of a storage");
  expect_value(tuple({text("module"), "N", "N", "N", "N"}) + "Q", "a persistent id is not that of");
  expect_value(tuple({text("storage"), "N", "N", "N", "N"}) + "Q",
               "the class of a storage is None");
  expect_value(storage("0", 1, "TypedStorage"), "the class of a storage is torch.TypedStorage");
  expect_value(storage("0", 1, "float32"), "the class of a storage is torch.float32");
  expect_value(storage("0", -1), "the size of a storage is -1, expected 0 or more");
  expect_value(storage("0", int64_t{1} << 60),
               "the storage \"0\" should have 1152921504606846976 elements");
  expect_value(storage("0", 2, "FloatStorage", tuple({text("v"), integer(1), integer(2)})),
               "a view of the storage \"0\" is larger than it");
}

TEST_F(PyTorchHostile, TensorsStayWithinTheirStorages) {
  const auto with = [](int64_t offset, int64_t rows, int64_t columns, int64_t stride) {
    return tensor(storage("0", 2), offset, {rows, columns}, {stride, 1});
  };
  const std::string beyond = "w reaches beyond the end of its storage of 2 elements";
  expect_tensor(with(2, 1, 1, 1), beyond);
  expect_tensor(with(1, 1, 2, 1), beyond);
  expect_tensor(with(0, 2, 1, 2), beyond);
  expect_tensor(with(int64_t{1} << 62, 1, 1, 1), beyond);
  expect_tensor(with(0, 2, 1, std::numeric_limits<int64_t>::max()), beyond);
  expect_tensor(with(0, int64_t{1} << 59, 1, 1), beyond);
  expect_tensor(with(0, int64_t{1} << 40, int64_t{1} << 40, 0), "w: a shape [1099511627776, 1099");
  expect_tensor(with(-1, 1, 1, 1), "the offset of a tensor is -1, expected 0 or more");
  expect_tensor(with(0, -1, 1, 1), "a size of a tensor is -1, expected 0 or more");
  expect_tensor(with(1, 2, 1, -1), "a stride of a tensor is -1, expected 0 or more");
  expect_tensor(tensor(storage("0", 2), 0, {1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}),
                "a tensor has 5 axes, expected up to 4");
  expect_tensor(tensor(storage("0", 2), 0, {1, 1}, {1}), "a tensor has 2 sizes and 1 strides");
  expect(torch_zip(dict({"w", tensor(storage("7", 2), 0, {1}, {1})}), {"x"}).bytes(),
         "the storage \"7\" is missing");
  expect(torch_legacy(dict({"w", tensor(storage("7", 2), 0, {1}, {1})}), {}),
         "the storage \"7\" is missing");
}

TEST_F(PyTorchHostile, StoragesAreAsLargeAsTheFileSays) {
  const std::string value = dict({"w", tensor(storage("0", 3), 0, {3}, {1})});
  expect(torch_zip(value, {elements_of<float>({1, 2})}).bytes(),
         "w: its storage \"0\" should have 3 elements of float32, but has 8 bytes");
  expect(torch_legacy(value, {{2, elements_of<float>({1, 2})}}),
         "the storage \"0\" has 2 elements, expected 3");
  expect(torch_legacy(value, {{3, elements_of<float>({1, 2})}}),
         "the storage \"0\" has 3 elements, expected 3, for which 8 bytes follow");
  expect(torch_legacy(value, {}), "the storage \"0\" is missing");
  expect(torch_legacy(value, {{3, elements_of<float>({1, 2, 3})}}) + "x",
         "the last 1 bytes belong to no storage");
}

TEST_F(PyTorchHostile, RepeatedElementsCountAsMemory) {
  const std::string most = "what it describes takes more memory than a file of its size may";
  expect_tensor(tensor(storage("0", 2), 0, {1 << 20, 1 << 20}, {0, 0}), most);
  expect_tensor(tensor(storage("0", 2), 0, {int64_t{1} << 59}, {0}), most);
}

TEST_F(PyTorchHostile, ADictOfTensorsIsExpected) {
  expect_value("N", "holds None, expected a dict of tensors");
  expect_value(good_tensor(), "holds a tensor, expected a dict");
  expect_value("}", "holds no tensors");
  expect_value(dict({"state_dict", "}", "w", good_tensor()}), "holds no tensors");
  expect_value(dict({"w", good_tensor(), "w", good_tensor()}), "w occurs twice");
}

TEST_F(PyTorchHostile, DamagedPicklesAreRefused) {
  expect_value("", "the pickle is damaged: it ends with 0 values");
  expect_value("NN", "the pickle is damaged: it ends with 2 values");
  expect_value("(N", "the pickle is damaged: it ends with 1 values");
  expect_value("t", "the pickle is damaged: a mark is missing");
  expect_value("]a", "the pickle is damaged: a value is missing");
  expect_value("N(0a", "the pickle is damaged: a value is missing");
  expect_value("(q\1", "the pickle is damaged: a value is missing");
  expect_value("}(Nu", "the pickle is damaged: a key of a dict has no value");
  expect_value("Na", "the pickle is damaged: a value is missing");
  expect_value("NNa", "the pickle appends to None, expected a list");
  expect_value("NNNs", "the pickle sets items of None, expected a dict");
  expect_value("h\7", "the pickle is damaged: nothing has the number 7 of its memo");
  expect_value("L9999999999999999999L\n", "the pickle has \"9999999999999999999L\" for an integer");
  expect_value("U\1\xff", "the pickle has the string \"\\ufffd\", which is not UTF-8");
  expect(torch_zip("N.N", {}).bytes(), "2 bytes follow the pickle in data.pkl");
}

TEST_F(PyTorchHostile, NestingIsNoRecursion) {
  std::string tuples = ")", lists = "]";
  for (int i = 0; i < 100000; ++i) tuples += '\x85';
  expect_value(tuples, "holds a tuple, expected a dict of tensors");
  expect_value(std::string(100000, '(') + "N", "the pickle is damaged");
  // A list that holds itself.
  expect_value("]q\1h\1a", "holds a list, expected a dict");
}

TEST_F(PyTorchHostile, RejectsTruncationAtEveryByte) {
  const std::string value = dict({"w", good_tensor()});
  for (const std::string& whole : {good_zip().bytes(), good_zip().zip64_bytes(),
                                   torch_legacy(value, {{2, elements_of<float>({1, 2})}})})
    for (size_t size = 0; size < whole.size(); ++size) expect(whole.substr(0, size), "");
}

TEST_F(PyTorchHostile, ArchivesAreStoredWholeAndWithoutOverlap) {
  const std::string pickle = program(dict({"w", good_tensor()})), data = std::string(8, 'x');
  const auto zip = [&](const ZipBytes::Entry& entry) {
    return ZipBytes().add({"m/data.pkl", pickle}).add(entry).bytes();
  };
  expect(zip({"m/data/0", data, 8}), "m/data/0 is compressed (deflate), which heed does not read");
  expect(zip({"m/data/0", data, 12}), "m/data/0 is compressed (method 12)");
  expect(zip({"m/data/0", data, 0, 1}), "m/data/0 is encrypted");
  expect(zip({.name = "m/data/0", .data = data, .own_name = "m/data/1"}),
         "m/data/0 is called \"m/data/1\" where its data are");
  expect(zip({.name = "m/data/0", .data = data, .bytes = 1000}),
         "m/data/0 should have 1000 bytes at byte");
  expect(zip({.name = "m/data/0", .data = data, .bytes = 12}),
         "m/data/0 overlaps another part of the zip archive");
  expect(zip({.name = "m/data.pkl", .data = data}), "m/data.pkl occurs twice");
  expect(zip({.name = "m/data/0", .data = data, .header = 3}), "m/data/0 is not at byte 3");
  // An entry in the data of another.
  ZipBytes nested = ZipBytes().add({"m/data.pkl", pickle});
  const size_t before = nested.size();
  const std::string inner = ZipBytes().add({"m/data/0", data}).bytes();
  nested.add({"m/x", inner.substr(0, inner.find("PK\1\2"))});
  const size_t header = nested.bytes().find("PK\3\4", before + 1);
  nested.add({.name = "m/data/0", .data = data, .header = static_cast<int64_t>(header)});
  expect(nested.bytes(), "m/data/0 overlaps another part of the zip archive");
}

TEST_F(PyTorchHostile, DirectoriesOfArchivesAreChecked) {
  const std::string good = good_zip().bytes();
  const size_t end = good.size() - 22;
  const auto changed = [&](size_t at, const std::string& bytes) {
    std::string copy = good;
    copy.replace(at, bytes.size(), bytes);
    return copy;
  };
  const std::string damaged = "the zip archive is damaged: ";
  expect(changed(end + 10, "\x09"), damaged);
  expect(changed(end + 10, "\x02"), damaged + "the entries of its directory have");
  expect(changed(end + 10, "\xff\xff"), damaged);
  expect(changed(end + 12, std::string(4, '\xff')), damaged);
  expect(changed(end + 16, std::string(4, '\xff')), damaged);
  expect(changed(end + 16, std::string(4, '\0')), damaged + "its directory has no entry at byte 0");
  expect(changed(end + 4, "\1"), "is a part of a zip archive in several files");
  expect(good + "x", "the zip archive has no end: it is truncated, or something follows it");
  for (const uint64_t number : {uint64_t{1} << 60, ~uint64_t{0}, ~uint64_t{0} - 29}) {
    ZipBytes size = torch_zip("N", {}), place = torch_zip("N", {});
    size.add_zip64("m/data/0", "x", number, size.size());
    place.add_zip64("m/data/0", "x", 1, number);
    expect(size.bytes(), "m/data/0 should have " + std::to_string(number) + " bytes");
    expect(place.bytes(), "m/data/0 is not at byte " + std::to_string(number));
    std::string zip64 = good_zip().zip64_bytes();
    for (const size_t field : {32, 40, 48}) {  // entries, bytes, begin
      std::string copy = zip64;
      copy.replace(copy.size() - 98 + field, 8, raw_number(number));
      expect(copy, damaged);
    }
    zip64.replace(zip64.size() - 34, 8, raw_number(number));
    expect(zip64, damaged + "its end is not at byte " + std::to_string(number));
  }
}

TEST_F(PyTorchHostile, OtherFilesAreNamedAsSuch) {
  expect("", "is not a file of torch.save");
  expect("\x80\x02}.", "is not a file of torch.save");
  expect(ZipBytes().add({"weights.npy", "x"}).bytes(),
         "is a zip archive without a file data.pkl, so torch.save has not written it");
  expect(ZipBytes().add({"a/data.pkl", "N."}).add({"b/data.pkl", "N."}).bytes(),
         "has two files data.pkl");
  expect(ZipBytes().add({"m/data.pkl", "N."}).add({"m/byteorder", "big"}).bytes(),
         "the byte order of its numbers is \"big\", expected \"little\"");
  expect(torch_legacy("N", {}, "\x89"), "the byte order of its numbers is not \"little\"");
}

}  // namespace
}  // namespace heed::io

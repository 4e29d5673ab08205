// Files of torch.save, valid or not, from their parts.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

namespace heed::io {

/// The bytes of a number.
template <typename T>
std::string raw_number(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Instructions of a pickle that push a value.
namespace pickled {

inline std::string text(const std::string& value) {
  return "X" + raw_number(static_cast<uint32_t>(value.size())) + value;
}
inline std::string integer(int64_t value) { return "\x8a\x08" + raw_number(value); }
inline std::string global(const std::string& module, const std::string& name) {
  return "c" + module + "\n" + name + "\n";
}
inline std::string tuple(const std::vector<std::string>& items) {
  std::string bytes = "(";
  for (const std::string& item : items) bytes += item;
  return bytes + "t";
}
inline std::string sizes(std::initializer_list<int64_t> values) {
  std::vector<std::string> items;
  for (const int64_t value : values) items.push_back(integer(value));
  return tuple(items);
}
inline std::string call(const std::string& function, const std::vector<std::string>& arguments) {
  return function + tuple(arguments) + "R";
}
inline std::string hooks() { return call(global("collections", "OrderedDict"), {}); }
inline std::string storage(const std::string& key, int64_t elements,
                           const std::string& type = "FloatStorage", const std::string& view = "") {
  return tuple({text("storage"), global("torch", type), text(key), text("cpu"), integer(elements),
                view}) +
         "Q";
}
inline std::string tensor(const std::string& storage, int64_t offset,
                          std::initializer_list<int64_t> shape,
                          std::initializer_list<int64_t> strides) {
  return call(global("torch._utils", "_rebuild_tensor_v2"),
              {storage, integer(offset), sizes(shape), sizes(strides), "\x89", hooks()});
}
/// A dict of keys and values in turn.
inline std::string dict(const std::vector<std::string>& items) {
  std::string bytes = "}(";
  for (size_t i = 0; i < items.size(); ++i) bytes += i % 2 ? items[i] : text(items[i]);
  return bytes + "u";
}
inline std::string program(const std::string& value) { return "\x80\x02" + value + "."; }

}  // namespace pickled

/// A zip archive. What it says of an entry may be false.
class ZipBytes {
 public:
  struct Entry {
    std::string name, data;
    uint16_t method = 0, flags = 0;
    std::string own_name = {};  // before the data, if it is another
    int64_t bytes = -1;         // in the directory, if it is another number
    int64_t header = -1;        // where the directory says that it begins, if elsewhere
  };

  ZipBytes& add(const Entry& entry) {
    const std::string& name = entry.own_name.empty() ? entry.name : entry.own_name;
    const auto size = static_cast<uint32_t>(entry.bytes < 0 ? entry.data.size() : entry.bytes);
    const auto header = static_cast<uint32_t>(entry.header < 0 ? bytes_.size() : entry.header);
    const std::string common = raw_number<uint16_t>(entry.flags) + raw_number(entry.method) +
                               std::string(8, '\0') + raw_number(size) + raw_number(size);
    // As torch does, so that the data begin at a multiple of 64 bytes.
    const size_t padding = 63 - (bytes_.size() + 33 + name.size()) % 64;
    const std::string extra =
        "FB" + raw_number(static_cast<uint16_t>(padding)) + std::string(padding, 'Z');
    bytes_ += "PK\3\4" + raw_number<uint16_t>(0) + common + length(name) + length(extra) + name +
              extra + entry.data;
    directory_ += "PK\1\2" + std::string(4, '\0') + common + length(entry.name) +
                  std::string(12, '\0') + raw_number(header) + entry.name;
    ++entries_;
    return *this;
  }
  /// An entry with its size and place in the extension for zip64.
  ZipBytes& add_zip64(const std::string& name, const std::string& data, uint64_t size,
                      uint64_t header) {
    const std::string values = raw_number(size) + raw_number(size) + raw_number(header);
    const std::string extra = raw_number<uint16_t>(1) + length(values) + values;
    const std::string common = std::string(12, '\0') + std::string(8, '\xff');
    bytes_ += "PK\3\4" + raw_number<uint16_t>(0) + common + length(name) + length("") + name + data;
    directory_ += "PK\1\2" + std::string(4, '\0') + common + length(name) + length(extra) +
                  std::string(10, '\0') + std::string(4, '\xff') + name + extra;
    ++entries_;
    return *this;
  }

  size_t size() const { return bytes_.size(); }
  std::string bytes(const std::string& comment = "") const {
    const auto count = raw_number(static_cast<uint16_t>(entries_));
    return bytes_ + directory_ + "PK\5\6" + std::string(4, '\0') + count + count +
           raw_number(static_cast<uint32_t>(directory_.size())) +
           raw_number(static_cast<uint32_t>(bytes_.size())) + length(comment) + comment;
  }
  /// With the extension for more than 65,535 entries or 4 GB.
  std::string zip64_bytes() const {
    const uint64_t end = bytes_.size() + directory_.size();
    const auto count = raw_number(uint64_t{entries_});
    return bytes_ + directory_ + "PK\6\6" + raw_number(uint64_t{44}) + std::string(12, '\0') +
           count + count + raw_number(uint64_t{directory_.size()}) +
           raw_number(uint64_t{bytes_.size()}) + "PK\6\7" + std::string(4, '\0') + raw_number(end) +
           raw_number(uint32_t{1}) + "PK\5\6" + std::string(16, '\xff') + length("");
  }

 private:
  static std::string length(const std::string& text) {
    return raw_number(static_cast<uint16_t>(text.size()));
  }

  std::string bytes_, directory_;
  uint32_t entries_ = 0;
};

/// A zip archive of torch.save: the pickle makes `value`, the storages have the keys "0", "1", ...
inline ZipBytes torch_zip(const std::string& value, const std::vector<std::string>& storages) {
  ZipBytes zip;
  zip.add({"m/data.pkl", pickled::program(value)}).add({"m/byteorder", "little"});
  for (size_t i = 0; i < storages.size(); ++i) zip.add({fmt::format("m/data/{}", i), storages[i]});
  return zip;
}

/// The same in the format before zip archives; each storage with the number of its elements.
inline std::string torch_legacy(const std::string& value,
                                const std::vector<std::pair<int64_t, std::string>>& storages,
                                const std::string& little_endian = "\x88") {
  using namespace pickled;
  std::string bytes("\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.", 15), keys = "](";
  bytes +=
      program(integer(1001)) + program(dict({"little_endian", little_endian})) + program(value);
  for (size_t i = 0; i < storages.size(); ++i) keys += text(fmt::format("{}", i));
  bytes += program(keys + "e");
  for (const auto& [elements, data] : storages) bytes += raw_number(elements) + data;
  return bytes;
}

/// The bytes of elements.
template <typename T>
std::string elements_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

}  // namespace heed::io

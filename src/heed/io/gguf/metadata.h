#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/base/file.h"

namespace heed::io {

/// The types of a GGUF value; the enumerators have the numbers that the format assigns.
enum class GgufType : uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64
};

/// "GGUF", with which files begin.
inline constexpr uint32_t kGgufMagic = 0x46554747;

class GgufCursor;

/// The metadata of a GGUF file: architecture, hyperparameters and tokenizer, as key-value pairs
/// such as "llama.block_count". Values are read from the mapped file on access.
class GgufMetadata {
 public:
  /// Reads the metadata of a file alone: neither its tensors nor the other files of a split model
  /// are looked at. Throws Error that names the file and the fault.
  static GgufMetadata open(const std::filesystem::path& path);

  bool contains(const std::string& key) const { return values_.contains(key); }
  /// In alphabetical order.
  std::vector<std::string> keys() const;

  /// The value of `key` as a T: int64_t (from any integer type), double (from any number), bool,
  /// std::string, or from an array a std::vector of one of these or of std::string_view. The views
  /// point into the file and are valid as long as this object. Strings need not be valid UTF-8.
  /// Throws Error that states the file, the key, what was expected and what was found.
  template <typename T>
  T get(const std::string& key) const;

  /// The same; `otherwise` when the key is absent.
  template <typename T>
  T get_or(const std::string& key, T otherwise) const {
    return contains(key) ? get<T>(key) : otherwise;
  }

  /// The number of elements of an array. Throws Error when the value is not an array.
  int64_t length(const std::string& key) const;

 private:
  friend class GgufFile;

  struct Value {
    GgufType type;
    GgufType element = GgufType::array;  // type of an array's elements
    uint64_t count = 1;                  // number of elements
    size_t begin = 0;                    // file offset of the first element
  };

  /// Reads and validates all key-value pairs; copies only the keys.
  void read(GgufCursor& cursor);
  const Value& value(const std::string& key) const;
  std::string text(const Value& value) const;
  template <typename T>
  T element(const std::string& key, GgufType type, GgufCursor& cursor) const;
  GgufCursor cursor_at(size_t position) const;

  std::string file_name_;
  std::shared_ptr<MappedFile> file_;
  std::map<std::string, Value> values_;
};

/// Whether a file begins with GGUF's magic number. Throws Error when it cannot be read.
bool is_gguf(const std::filesystem::path& path);

}  // namespace heed::io

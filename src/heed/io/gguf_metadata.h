#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/base/file.h"

namespace heed::io {

/// The types of a GGUF value, numbered as in the file.
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

class GgufCursor;

/// The metadata of a GGUF file: what the model is, its hyperparameters and its tokenizer, each
/// under a key such as "llama.block_count". Values stay in the file until they are asked for.
class GgufMetadata {
 public:
  bool contains(const std::string& key) const { return values_.contains(key); }
  /// In alphabetical order.
  std::vector<std::string> keys() const;

  /// The value of `key` as a T: int64_t (of any integer type that it fits), double (of any number),
  /// bool, std::string, or a std::vector of one of these or of std::string_view, which point into
  /// the file and live as long as this (of an array). Strings are bytes, which need not be UTF-8.
  /// Throws Error naming file, key, what was expected and what was found.
  template <typename T>
  T get(const std::string& key) const;

  /// The same, or `otherwise` when the key is not there.
  template <typename T>
  T get_or(const std::string& key, T otherwise) const {
    return contains(key) ? get<T>(key) : otherwise;
  }

  /// The number of elements of an array. Throws Error when the value is none.
  int64_t length(const std::string& key) const;

 private:
  friend class GgufFile;

  struct Value {
    GgufType type;
    GgufType element = GgufType::array;  // of an array
    uint64_t count = 1;                  // of its elements
    size_t begin = 0;                    // of the first, in the file
  };

  /// Reads and checks all pairs of key and value; copies nothing but the keys.
  void read(GgufCursor& cursor);
  const Value& value(const std::string& key) const;
  std::string text(const Value& value) const;
  template <typename T>
  T element(const std::string& key, GgufType type, GgufCursor& cursor) const;
  GgufCursor cursor_at(size_t place) const;

  std::string file_name_;
  std::shared_ptr<MappedFile> file_;
  std::map<std::string, Value> values_;
};

}  // namespace heed::io

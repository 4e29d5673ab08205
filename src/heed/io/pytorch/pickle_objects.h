#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/io/pytorch/known_globals.h"

namespace heed::io {

/// What a value of a pickle is.
enum class PickleKind : uint8_t {
  none,
  boolean,
  integer,      // of 64 bits
  big_integer,  // a longer one: its bytes, as a text
  real,         // its value is not kept
  text,
  bytes,
  tuple,
  list,
  dict,
  global,
  storage,
  tensor,
};

/// A value of a pickle: itself, or the number of an object of PickleObjects.
struct PickleValue {
  PickleKind kind = PickleKind::none;
  int64_t value = 0;  // of a boolean or an integer; of others the number of the object

  bool is(PickleKind other) const { return kind == other; }
};

/// What a value is, for messages: "a dict".
std::string_view name_of(PickleKind kind);

/// Elements that tensors share.
struct TorchStorage {
  std::string_view key;  // by which the file finds them
  const TorchDType* dtype = nullptr;
  int64_t elements = 0;          // of dtype
  int64_t first = 0, count = 0;  // those of a view: all, but in the oldest files
};

/// A tensor: which elements of a storage it has.
struct TorchTensor {
  static constexpr int kMaxRank = 4;

  TorchStorage storage;
  const TorchDType* dtype = nullptr;
  int64_t offset = 0;  // of the first element, in elements of dtype
  int rank = 0;
  std::array<int64_t, kMaxRank> sizes{}, strides{};  // in elements
};

/// The objects that a pickle has made. They are numbered and refer to each other by number, so that
/// neither nesting nor cycles make anything recursive. Their memory is limited.
class PickleObjects {
 public:
  using Pair = std::pair<PickleValue, PickleValue>;

  /// `file`: its name in messages. `budget`: the most bytes that objects may take.
  PickleObjects(std::string file, size_t budget) : file_(std::move(file)), budget_(budget) {}

  const std::string& file() const { return file_; }
  /// Counts memory of objects, or of what the file makes a reader allocate. Throws Error when it is
  /// more than the budget.
  void charge(size_t bytes);

  /// A text or bytes, which stay where they are.
  PickleValue add_text(PickleKind kind, std::string_view text);
  /// A tuple or a list.
  PickleValue add_items(PickleKind kind, std::vector<PickleValue> items);
  PickleValue add_dict();
  PickleValue add_storage(const TorchStorage& storage);
  PickleValue add_tensor(const TorchTensor& tensor);

  /// Each of these expects a value of the kind.
  std::string_view text(PickleValue value) const { return texts_[index_of(value)]; }
  const std::vector<PickleValue>& items(PickleValue value) const { return lists_[index_of(value)]; }
  const std::vector<Pair>& dict(PickleValue value) const { return dicts_[index_of(value)]; }
  const TorchStorage& storage(PickleValue value) const { return storages_[index_of(value)]; }
  const TorchTensor& tensor(PickleValue value) const { return tensors_[index_of(value)]; }

  /// All storages, in the order in which the pickle names them.
  const std::deque<TorchStorage>& storages() const { return storages_; }

  void append(PickleValue list, PickleValue item);
  void insert(PickleValue dict, PickleValue key, PickleValue value);

  /// The value of a text key in a dict, the last of several; null when there is none.
  const PickleValue* find(PickleValue dict, std::string_view key) const;

 private:
  static size_t index_of(PickleValue value) { return static_cast<size_t>(value.value); }
  template <typename Container, typename Object>
  PickleValue add(PickleKind kind, Container& container, Object object);

  std::string file_;
  size_t budget_, used_ = 0;
  // Deques: growing them does not copy.
  std::deque<std::string_view> texts_;
  std::deque<std::vector<PickleValue>> lists_;
  std::deque<std::vector<Pair>> dicts_;
  std::deque<TorchStorage> storages_;
  std::deque<TorchTensor> tensors_;
};

}  // namespace heed::io

#pragma once

#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heed/jinja/values/value.h"

namespace heed::jinja {

/// Values by hashable keys, in the order of their first insertion.
class Dict {
 public:
  using Entry = std::pair<Value, Value>;

  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  int depth() const { return depth_; }

  /// The value of `key`, or nullptr. Throws Error when the key is not hashable.
  const Value* find(Runtime& runtime, const Value& key) const;
  const Value* find(std::string_view key) const;
  /// Keeps the old key when an equal one is there, as Python does.
  void set(Runtime& runtime, Value key, Value value);
  void clear();

 private:
  template <typename Equal>
  const size_t* find_index(size_t hash, Equal&& equal) const;

  std::vector<Entry> entries_;
  std::unordered_multimap<size_t, size_t> index_;  // hash of the key -> entry
  int depth_ = 1;
  Charge charge_;
};

}  // namespace heed::jinja

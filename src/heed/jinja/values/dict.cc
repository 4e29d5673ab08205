#include "heed/jinja/values/dict.h"

#include <algorithm>

#include "heed/jinja/runtime.h"
#include "heed/jinja/values/compare.h"

namespace heed::jinja {

/// About what an entry takes with its location in the index.
constexpr size_t kEntryBytes = 2 * sizeof(Dict::Entry) + 48;

template <typename Equal>
const size_t* Dict::find_index(size_t hash, Equal&& equal) const {
  const auto [begin, end] = index_.equal_range(hash);
  for (auto at = begin; at != end; ++at)
    if (equal(entries_[at->second].first)) return &at->second;
  return nullptr;
}

const Value* Dict::find(Runtime& runtime, const Value& key) const {
  const size_t* found = find_index(
      hash_of(runtime, key), [&](const Value& other) { return jinja::equal(runtime, other, key); });
  return found ? &entries_[*found].second : nullptr;
}

const Value* Dict::find(std::string_view key) const {
  const size_t* found = find_index(hash_of(key), [&](const Value& other) {
    return other.is_text() && other.text().bytes == key;
  });
  return found ? &entries_[*found].second : nullptr;
}

void Dict::set(Runtime& runtime, Value key, Value value) {
  const size_t hash = hash_of(runtime, key);
  const int depth = std::max(key.depth(), value.depth()) + 1;
  const size_t* found =
      find_index(hash, [&](const Value& other) { return jinja::equal(runtime, other, key); });
  if (found != nullptr) {
    entries_[*found].second = std::move(value);
  } else {
    runtime.step();
    if (entries_.empty()) charge_ = Charge(runtime.values, sizeof(Dict));
    charge_.add(kEntryBytes);
    index_.emplace(hash, entries_.size());
    entries_.emplace_back(std::move(key), std::move(value));
  }
  depth_ = std::max(depth_, depth);
}

void Dict::clear() {
  entries_.clear();
  index_.clear();
}

}  // namespace heed::jinja

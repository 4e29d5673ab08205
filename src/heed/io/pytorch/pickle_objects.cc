#include "heed/io/pytorch/pickle_objects.h"

#include <algorithm>
#include <ranges>

#include "heed/base/error.h"

namespace heed::io {

std::string_view name_of(PickleKind kind) {
  constexpr std::array<std::string_view, 13> kNames{
      "None",    "a boolean", "an integer", "a large integer", "a float",   "a string", "bytes",
      "a tuple", "a list",    "a dict",     "a global",        "a storage", "a tensor"};
  return kNames[static_cast<size_t>(kind)];
}

void PickleObjects::charge(size_t bytes) {
  require(bytes <= budget_ - used_,
          "{}: what it describes takes more memory than a file of its size may: over {} bytes",
          file_, budget_);
  used_ += bytes;
}

template <typename Container, typename Object>
PickleValue PickleObjects::add(PickleKind kind, Container& container, Object object) {
  charge(sizeof(Object));
  container.push_back(std::move(object));
  return {kind, static_cast<int64_t>(container.size() - 1)};
}

PickleValue PickleObjects::add_text(PickleKind kind, std::string_view text) {
  return add(kind, texts_, text);
}

PickleValue PickleObjects::add_items(PickleKind kind, std::vector<PickleValue> items) {
  charge(items.size() * sizeof(PickleValue));
  return add(kind, lists_, std::move(items));
}

PickleValue PickleObjects::add_dict() { return add(PickleKind::dict, dicts_, std::vector<Pair>()); }

PickleValue PickleObjects::add_storage(const TorchStorage& storage) {
  return add(PickleKind::storage, storages_, storage);
}

PickleValue PickleObjects::add_tensor(const TorchTensor& tensor) {
  return add(PickleKind::tensor, tensors_, tensor);
}

void PickleObjects::append(PickleValue list, PickleValue item) {
  charge(2 * sizeof item);  // a vector grows to twice its size
  lists_[index_of(list)].push_back(item);
}

void PickleObjects::insert(PickleValue dict, PickleValue key, PickleValue value) {
  charge(2 * sizeof(Pair));
  dicts_[index_of(dict)].emplace_back(key, value);
}

const PickleValue* PickleObjects::find(PickleValue dict, std::string_view key) const {
  for (const auto& [own, value] : std::views::reverse(this->dict(dict)))
    if (own.is(PickleKind::text) && text(own) == key) return &value;
  return nullptr;
}

}  // namespace heed::io

#include "heed/io/pytorch/pickle_calls.h"

#include <bit>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::io {
namespace {

void require_kind(const PickleObjects& objects, PickleValue value, PickleKind kind,
                  std::string_view what) {
  require(value.is(kind), "{}: {} is {}, expected {}", objects.file(), what, name_of(value.kind),
          name_of(kind));
}

/// A size, which is not negative.
int64_t size_from(const PickleObjects& objects, PickleValue value, std::string_view what) {
  require_kind(objects, value, PickleKind::integer, what);
  require(value.value >= 0, "{}: {} is {}, expected 0 or more", objects.file(), what, value.value);
  return value.value;
}

/// Sets the sizes and strides of a tensor from tuples.
void set_axes(const PickleObjects& objects, PickleValue sizes, PickleValue strides,
              TorchTensor& tensor) {
  require_kind(objects, sizes, PickleKind::tuple, "the size of a tensor");
  require_kind(objects, strides, PickleKind::tuple, "the stride of a tensor");
  const auto& own_sizes = objects.items(sizes);
  const auto& own_strides = objects.items(strides);
  require(own_sizes.size() == own_strides.size(), "{}: a tensor has {} sizes and {} strides",
          objects.file(), own_sizes.size(), own_strides.size());
  require(own_sizes.size() <= TorchTensor::kMaxRank, "{}: a tensor has {} axes, expected up to {}",
          objects.file(), own_sizes.size(), TorchTensor::kMaxRank);
  tensor.rank = static_cast<int>(own_sizes.size());
  for (size_t axis = 0; axis < own_sizes.size(); ++axis) {
    tensor.sizes[axis] = size_from(objects, own_sizes[axis], "a size of a tensor");
    tensor.strides[axis] = size_from(objects, own_strides[axis], "a stride of a tensor");
  }
}

/// (storage, offset, size, stride, requires_grad, hooks) and perhaps metadata; version 3 has the
/// type of elements before these.
PickleValue rebuild_tensor(PickleObjects& objects, const KnownGlobal& function,
                           std::span<const PickleValue> arguments) {
  const bool typed = function.kind == GlobalKind::rebuild_tensor_v3;
  const size_t expected = typed ? 7 : 6;
  require(arguments.size() == expected || arguments.size() == expected + 1,
          "{}: {} has {} arguments, expected {}", objects.file(), function.name, arguments.size(),
          expected);
  require_kind(objects, arguments[0], PickleKind::storage, "the storage of a tensor");
  TorchTensor tensor{.storage = objects.storage(arguments[0])};
  tensor.dtype = tensor.storage.dtype;
  if (typed) {
    require(
        arguments[6].is(PickleKind::global) && global_of(arguments[6]).kind == GlobalKind::dtype,
        "{}: the dtype of a tensor is {}", objects.file(), name_of(arguments[6].kind));
    tensor.dtype = global_of(arguments[6]).dtype;
  }
  // "conj" and "neg" in it change what the elements mean.
  const PickleValue metadata = arguments.size() > expected ? arguments.back() : PickleValue();
  require(metadata.is(PickleKind::none) ||
              (metadata.is(PickleKind::dict) && objects.dict(metadata).empty()),
          "{}: a tensor has metadata, which heed does not read", objects.file());
  tensor.offset = size_from(objects, arguments[1], "the offset of a tensor");
  set_axes(objects, arguments[2], arguments[3], tensor);
  return objects.add_tensor(tensor);
}

/// An empty one, or one of pairs, as Python 2 writes it.
PickleValue ordered_dict(PickleObjects& objects, std::span<const PickleValue> arguments) {
  const PickleValue dict = objects.add_dict();
  if (arguments.empty()) return dict;
  const auto is_items = [](PickleValue value) {
    return value.is(PickleKind::list) || value.is(PickleKind::tuple);
  };
  require(arguments.size() == 1 && is_items(arguments[0]),
          "{}: collections.OrderedDict has other arguments than a list", objects.file());
  for (const PickleValue pair : objects.items(arguments[0])) {
    require(is_items(pair) && objects.items(pair).size() == 2,
            "{}: collections.OrderedDict is made of other things than pairs", objects.file());
    objects.insert(dict, objects.items(pair)[0], objects.items(pair)[1]);
  }
  return dict;
}

/// Bytes, of which protocol 2 writes each as a character: _codecs.encode(text, "latin1").
PickleValue encoded(PickleObjects& objects, std::span<const PickleValue> arguments) {
  require(arguments.size() == 2 && arguments[0].is(PickleKind::text) &&
              arguments[1].is(PickleKind::text) && objects.text(arguments[1]) == "latin1",
          "{}: _codecs.encode has other arguments than a string and \"latin1\"", objects.file());
  return objects.add_text(PickleKind::bytes, objects.text(arguments[0]));
}

}  // namespace

const KnownGlobal& global_of(PickleValue value) {
  return *std::bit_cast<const KnownGlobal*>(value.value);
}

PickleValue value_of(const KnownGlobal& global) {
  static_assert(sizeof(const KnownGlobal*) == sizeof(int64_t));
  return {PickleKind::global, std::bit_cast<int64_t>(&global)};
}

PickleValue call_known_global(PickleObjects& objects, const KnownGlobal& function,
                              std::span<const PickleValue> arguments) {
  switch (function.kind) {
    case GlobalKind::ordered_dict:
      return ordered_dict(objects, arguments);
    case GlobalKind::rebuild_tensor_v2:
    case GlobalKind::rebuild_tensor_v3:
      return rebuild_tensor(objects, function, arguments);
    case GlobalKind::rebuild_parameter:
      require(arguments.size() == 3 && arguments[0].is(PickleKind::tensor),
              "{}: {} has other arguments than a tensor, a boolean and hooks", objects.file(),
              function.name);
      return arguments[0];
    case GlobalKind::encode:
      return encoded(objects, arguments);
    case GlobalKind::storage:
    case GlobalKind::typed_storage:
    case GlobalKind::dtype:
      break;
  }
  fail("{}: the pickle calls {}, which heed does not do", objects.file(), function.name);
}

PickleValue storage_of_id(PickleObjects& objects, PickleValue id) {
  require_kind(objects, id, PickleKind::tuple, "a persistent id");
  const auto& parts = objects.items(id);
  require((parts.size() == 5 || parts.size() == 6) && parts[0].is(PickleKind::text) &&
              objects.text(parts[0]) == "storage",
          "{}: a persistent id is not that of a storage", objects.file());
  const bool is_global = parts[1].is(PickleKind::global);
  require(is_global && global_of(parts[1]).kind == GlobalKind::storage,
          "{}: the class of a storage is {}", objects.file(),
          is_global ? std::string_view(global_of(parts[1]).name) : name_of(parts[1].kind));
  require_kind(objects, parts[2], PickleKind::text, "the key of a storage");
  TorchStorage storage{.key = objects.text(parts[2]),
                       .dtype = global_of(parts[1]).dtype,
                       .elements = size_from(objects, parts[4], "the size of a storage")};
  require(storage.elements <= std::numeric_limits<int64_t>::max() / 16,
          "{}: the storage {} should have {} elements", objects.file(), quoted(storage.key),
          storage.elements);
  storage.count = storage.elements;
  if (parts.size() == 5 || parts[5].is(PickleKind::none)) return objects.add_storage(storage);
  require(parts[5].is(PickleKind::tuple) && objects.items(parts[5]).size() == 3,
          "{}: a view of a storage is {}, expected a tuple of 3", objects.file(),
          name_of(parts[5].kind));
  storage.first = size_from(objects, objects.items(parts[5])[1], "the offset of a view");
  storage.count = size_from(objects, objects.items(parts[5])[2], "the size of a view");
  require(storage.first <= storage.elements && storage.count <= storage.elements - storage.first,
          "{}: a view of the storage {} is larger than it", objects.file(), quoted(storage.key));
  return objects.add_storage(storage);
}

}  // namespace heed::io

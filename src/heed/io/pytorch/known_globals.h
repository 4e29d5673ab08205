#pragma once

#include <string>
#include <string_view>

#include "heed/io/pytorch/torch_dtype.h"

namespace heed::io {

/// What a name of Python that a pickle may have stands for.
enum class GlobalKind : uint8_t {
  ordered_dict,       // collections.OrderedDict
  rebuild_tensor_v2,  // torch._utils
  rebuild_tensor_v3,
  rebuild_parameter,
  encode,         // _codecs.encode, by which protocol 2 writes bytes
  storage,        // a class of storages with elements of a dtype
  typed_storage,  // the class that says nothing of its elements
  dtype,          // an object of torch.dtype
};

/// A name of a closed list. Nothing of Python is run; what torch's functions do with tensors is
/// done by pickle_calls.cc.
struct KnownGlobal {
  std::string name;  // with its module
  GlobalKind kind;
  const TorchDType* dtype = nullptr;
};

/// Null for a name that is not in the list.
const KnownGlobal* find_known_global(std::string_view module, std::string_view name);

}  // namespace heed::io

#include "heed/io/pytorch/known_globals.h"

#include <fmt/format.h>

#include <map>

namespace heed::io {
namespace {

using Globals = std::map<std::string, KnownGlobal, std::less<>>;

Globals known_globals() {
  Globals globals;
  const auto add = [&](const std::string& name, GlobalKind kind,
                       const TorchDType* dtype = nullptr) {
    globals.emplace(name, KnownGlobal{name, kind, dtype});
  };
  add("collections.OrderedDict", GlobalKind::ordered_dict);
  add("torch._utils._rebuild_tensor_v2", GlobalKind::rebuild_tensor_v2);
  add("torch._utils._rebuild_tensor_v3", GlobalKind::rebuild_tensor_v3);
  add("torch._utils._rebuild_parameter", GlobalKind::rebuild_parameter);
  add("_codecs.encode", GlobalKind::encode);
  for (const TorchDType& dtype : torch_dtypes()) {
    add(fmt::format("torch.{}", dtype.name), GlobalKind::dtype, &dtype);
    if (dtype.storage.empty()) continue;
    for (const char* module : {"torch", "torch.cuda"})
      add(fmt::format("{}.{}Storage", module, dtype.storage), GlobalKind::storage, &dtype);
  }
  // Their names since torch 2.0 and before.
  for (const char* module : {"torch", "torch.storage"})
    for (const char* prefix : {"", "_"}) {
      add(fmt::format("{}.{}UntypedStorage", module, prefix), GlobalKind::storage,
          torch_dtype_named("uint8"));
      add(fmt::format("{}.{}TypedStorage", module, prefix), GlobalKind::typed_storage);
    }
  return globals;
}

}  // namespace

const KnownGlobal* find_known_global(std::string_view module, std::string_view name) {
  static const Globals kGlobals = known_globals();
  // A module without dots in its name: "torch" and "_utils.x" are not "torch._utils" and "x".
  if (name.find('.') != name.npos) return nullptr;
  const auto found = kGlobals.find(fmt::format("{}.{}", module, name));
  return found == kGlobals.end() ? nullptr : &found->second;
}

}  // namespace heed::io

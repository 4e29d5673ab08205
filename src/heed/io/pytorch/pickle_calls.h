#pragma once

#include <span>

#include "heed/io/pytorch/pickle_objects.h"

namespace heed::io {

/// What a pickle makes by calling a function of the closed list with arguments: an OrderedDict, a
/// tensor of a storage, or bytes. Throws Error for a name that is not a function, and for other
/// arguments than torch.save writes.
PickleValue call_known_global(PickleObjects& objects, const KnownGlobal& function,
                              std::span<const PickleValue> arguments);

/// What the persistent id of a pickle stands for: ("storage", class, key, place, number of
/// elements) and, in files before zip archives, None or a view of it: (key, first, elements).
PickleValue storage_of_id(PickleObjects& objects, PickleValue id);

/// The global that a value of this kind is.
const KnownGlobal& global_of(PickleValue value);
PickleValue value_of(const KnownGlobal& global);

}  // namespace heed::io

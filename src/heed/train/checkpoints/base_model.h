#pragma once

#include "heed/data/fingerprint.h"
#include "heed/model/transformer.h"

namespace heed::train {

/// Detects that the base model of an adapter has changed: the number of its parameters, and a hash
/// of their names, types, shapes and elements, of all of them. The same for any number of threads.
data::Fingerprint fingerprint_of(const model::Transformer& base);

/// Throws Error, naming the base model and the difference, unless the base is the one that the run
/// began with.
void require_same_base(const data::Fingerprint& began, const data::Fingerprint& now,
                       const std::string& path);

}  // namespace heed::train

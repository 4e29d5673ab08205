#pragma once

#include <cstdint>

#include "heed/engine/loaded_model.h"

namespace heed::engine {

/// A hash of `seed` and of the files of a model and of its adapters: their names and sizes, and
/// samples of their bytes. For finding out that two models are not the same; not cryptographic.
uint64_t fingerprint_of_files(const LoadedModel& model, uint64_t seed);

}  // namespace heed::engine

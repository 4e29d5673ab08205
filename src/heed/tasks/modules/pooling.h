#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heed/embedding.h"

namespace heed::tasks {

/// The states of a text's tokens that are pooled.
struct PooledStates {
  const float* values;     // [rows, width]
  int64_t rows, width;     // at least 1
  int64_t first_position;  // of the first row in its text, counted from 0: the rows before it are
                           // those of a prompt that is not pooled
};

/// The vectors of the poolings, one after the other, as sentence-transformers' Pooling concatenates
/// them. Sums are of f64, over the rows in order. `pooler` is the first state, since the model has
/// pooled before.
std::vector<float> pooled(std::span<const Pooling> poolings, const PooledStates& states);

}  // namespace heed::tasks

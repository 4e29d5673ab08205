#pragma once

#include <cstdint>
#include <span>

namespace heed {

struct Adapter;

/// An adapter and the factor of what it adds.
struct ScaledAdapter {
  const Adapter* adapter;
  float scale = 1.0f;
  bool operator==(const ScaledAdapter&) const = default;
};

/// The adapters that apply, together and in this order, to the consecutive rows [begin, end) of a
/// pass.
struct AdaptedRows {
  int64_t begin, end;
  std::span<const ScaledAdapter> adapters;
};

}  // namespace heed

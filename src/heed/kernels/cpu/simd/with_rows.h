#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace heed::kernels::cpu {

/// Calls body(std::integral_constant<int, rows>()) for 1 <= rows <= kMaxRows: the number of rows
/// whose sums a kernel keeps in registers, as a constant.
template <int kMaxRows, typename Body>
void with_rows(int64_t rows, const Body& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    ((rows == i + 1 ? body(std::integral_constant<int, i + 1>()) : void()), ...);
  }
  (std::make_integer_sequence<int, kMaxRows>());
}

}  // namespace heed::kernels::cpu

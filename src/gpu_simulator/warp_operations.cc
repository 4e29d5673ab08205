#include <algorithm>
#include <bit>
#include <cstring>

#include "gpu_simulator/registry.h"

namespace heed::gpu_simulator {
namespace {

using Lanes = std::array<Registers, kWarpLanes>;

/// Half `i` of a register: bf16.
float half_of(uint32_t bits, unsigned i) {
  return std::bit_cast<float>(i == 0 ? bits << 16 : bits & 0xffff0000u);
}

int32_t byte_of(uint32_t bits, unsigned i) { return static_cast<int8_t>(bits >> 8 * i & 255); }

/// Where lanes hold the matrices of mma.m16n8kK, K / 4 elements in a row of four registers: calls
/// put(row or column, k, register's value, number in the register) for A and for B.
template <unsigned elements, typename PutA, typename PutB>
void for_operands(const Lanes& lanes, const PutA& put_a, const PutB& put_b) {
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const unsigned group = lane / 4, first = lane % 4 * elements;
    for (unsigned i = 0; i < elements; ++i) {
      const unsigned k = first + i, far = k + 4 * elements;
      put_a(group, k, lanes[lane][0], i);
      put_a(group + 8, k, lanes[lane][1], i);
      put_a(group, far, lanes[lane][2], i);
      put_a(group + 8, far, lanes[lane][3], i);
      put_b(group, k, lanes[lane][4], i);
      put_b(group, far, lanes[lane][5], i);
    }
  }
}

/// Replaces registers 0 to 3 by element(row, column, register of c).
template <typename Element>
void put_results(Lanes& lanes, const Element& element) {
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      lanes[lane][i] = element(lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2, lanes[lane][6 + i]);
}

/// The addresses that lanes hand in.
std::array<const std::byte*, kWarpLanes> rows_of_matrices(const Lanes& lanes) {
  std::array<const std::byte*, kWarpLanes> rows;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    std::memcpy(&rows[lane], lanes[lane].data(), sizeof(rows[lane]));
  return rows;
}

}  // namespace

void shuffle_xor(Lanes& lanes, unsigned mask, TensorCores) {
  const Lanes before = lanes;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    lanes[lane][0] = before[(lane ^ mask) % kWarpLanes][0];
}

void reduce_max(Lanes& lanes, unsigned, TensorCores) {
  uint32_t largest = 0;
  for (const Registers& lane : lanes) largest = std::max(largest, lane[0]);
  for (Registers& lane : lanes) lane[0] = largest;
}

void load_matrices_x4(Lanes& lanes, unsigned, TensorCores) {
  const auto rows = rows_of_matrices(lanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    for (unsigned i = 0; i < 4; ++i)
      std::memcpy(&lanes[lane][i], rows[8 * i + lane / 4] + 4 * (lane % 4), 4);
}

void load_matrices_x4_transposed(Lanes& lanes, unsigned, TensorCores) {
  const auto rows = rows_of_matrices(lanes);
  for (unsigned lane = 0; lane < kWarpLanes; ++lane)
    for (unsigned i = 0; i < 4; ++i) {
      std::array<uint16_t, 2> column;
      for (unsigned j = 0; j < 2; ++j)
        std::memcpy(&column[j], rows[8 * i + lane % 4 * 2 + j] + 2 * (lane / 4), 2);
      lanes[lane][i] = std::bit_cast<uint32_t>(column);
    }
}

void mma_m16n8k16_bf16(Lanes& lanes, unsigned, TensorCores cores) {
  std::array<std::array<float, 16>, 16> a;
  std::array<std::array<float, 16>, 8> b;
  for_operands<2>(
      lanes,
      [&](unsigned row, unsigned k, uint32_t bits, unsigned i) { a[row][k] = half_of(bits, i); },
      [&](unsigned column, unsigned k, uint32_t bits, unsigned i) {
        b[column][k] = half_of(bits, i);
      });
  put_results(lanes, [&](unsigned row, unsigned column, uint32_t c) {
    return std::bit_cast<uint32_t>(sum_of_16(a[row], b[column], std::bit_cast<float>(c), cores));
  });
}

void mma_m16n8k32_s8(Lanes& lanes, unsigned, TensorCores) {
  std::array<std::array<int32_t, 32>, 16> a;
  std::array<std::array<int32_t, 32>, 8> b;
  for_operands<4>(
      lanes,
      [&](unsigned row, unsigned k, uint32_t bits, unsigned i) { a[row][k] = byte_of(bits, i); },
      [&](unsigned column, unsigned k, uint32_t bits, unsigned i) {
        b[column][k] = byte_of(bits, i);
      });
  put_results(lanes, [&](unsigned row, unsigned column, uint32_t c) {
    uint32_t sum = c;
    for (unsigned k = 0; k < 32; ++k) sum += static_cast<uint32_t>(a[row][k] * b[column][k]);
    return sum;
  });
}

}  // namespace heed::gpu_simulator

#pragma once

#include "heed/kernels/gpu/code/products/matmul.h"
#include "heed/kernels/gpu/code/vectors.h"

// What products of floats have in common: tiles of the factors in shared memory, and c.

namespace heed::kernels::gpu {

/// A stage of one factor in shared memory: `outer` rows or columns of c by `depth` k, as rows along
/// the depth or across it. Chunks of 16 bytes are exchanged by the row, so that 8 of one column are
/// in different banks.
template <typename T, int outer, int depth, bool along>
struct SharedTile {
  static constexpr int kChunk = 16 / static_cast<int>(sizeof(T));
  static constexpr int kRows = along ? outer : depth, kColumns = along ? depth : outer;
  static constexpr int kChunks = kColumns / kChunk;
  static_assert(kChunks >= 8);

  static HEED_DEVICE T* chunk(T* tile, int row, int chunk) {
    return tile + row * kColumns + (chunk ^ (row & 7)) * kChunk;
  }
  static HEED_DEVICE T* element(T* tile, int row, int column) {
    return chunk(tile, row, column / kChunk) + column % kChunk;
  }
};

/// What a thread copies of a factor, stage by stage. Beyond the factor's edges are zeros.
template <typename T, int outer, int depth, bool along, int threads>
class TileCopy {
 public:
  /// `outer_size`: rows or columns of c; `first`: those of the tile begin there.
  HEED_DEVICE TileCopy(const void* factor, int64_t stride, int first, int outer_size,
                       int depth_size)
      : stride_(stride), depth_left_(depth_size) {
    const int thread = static_cast<int>(heed::gpu::thread_index());
    row_ = thread / Tile::kChunks;
    chunk_ = thread % Tile::kChunks;
    outer_left_ = outer_size - first;
    from_ = static_cast<const T*>(factor) + (along ? (first + row_) * stride + chunk_ * Tile::kChunk
                                                   : row_ * stride + first + chunk_ * Tile::kChunk);
  }

  /// Starts copying the next stage.
  HEED_DEVICE void start(T* tile) {
    const bool column_exists = chunk_ * Tile::kChunk < (along ? depth_left_ : outer_left_);
    const int rows_left = along ? outer_left_ : depth_left_;
    const T* from = from_;
    HEED_UNROLL
    for (int i = 0; i < kCopies; ++i) {
      const int row = row_ + i * kStep;
      if (kCopies * kStep == Tile::kRows || row < Tile::kRows)
        heed::gpu::copy_async_16_if(column_exists && row < rows_left,
                                    Tile::chunk(tile, row, chunk_), from);
      from += kStep * stride_;
    }
    from_ += along ? depth : depth * stride_;
    depth_left_ -= depth;
  }

 private:
  using Tile = SharedTile<T, outer, depth, along>;
  static_assert(threads % Tile::kChunks == 0);
  static constexpr int kStep = threads / Tile::kChunks;  // rows that all threads copy at a time
  static constexpr int kCopies = (Tile::kRows + kStep - 1) / kStep;

  const T* from_;
  int64_t stride_;
  int row_, chunk_, outer_left_, depth_left_;
};

/// The stages of both factors: a ring that is filled ahead of the sums.
template <typename T, MatmulTile shape, bool first_along, bool second_along>
class TileRing {
 public:
  using First = SharedTile<T, shape.rows, shape.depth, first_along>;
  using Second = SharedTile<T, shape.columns, shape.depth, second_along>;

  HEED_DEVICE TileRing(const MatmulArguments& in, int row, int column)
      : first_(in.first, in.first_stride, row, in.rows, in.depth),
        second_(in.second, in.second_stride, column, in.columns, in.depth) {
    HEED_UNROLL
    for (int stage = 0; stage < shape.stages - 1; ++stage) fill();
  }

  /// Starts copying the next stage, into the place of the one before the one that is read.
  HEED_DEVICE void fill() {
    T* const stage = at(filled_);
    first_.start(stage);
    second_.start(stage + shape.rows * shape.depth);
    heed::gpu::commit_copies();
    filled_ = next(filled_);
  }

  /// Waits for the next stage to read, and for all threads to have read the one before.
  HEED_DEVICE void advance() {
    heed::gpu::wait_for_copies<shape.stages - 2>();
    heed::gpu::synchronize();
    read_ = next(read_);
  }

  HEED_DEVICE T* first() { return at(read_); }
  HEED_DEVICE T* second() { return at(read_) + shape.rows * shape.depth; }

 private:
  static HEED_DEVICE T* at(int stage) {
    return heed::gpu::shared_memory<T>() + stage * (shape.rows + shape.columns) * shape.depth;
  }
  static HEED_DEVICE int next(int stage) { return stage + 1 == shape.stages ? 0 : stage + 1; }

  TileCopy<T, shape.rows, shape.depth, first_along, shape.threads()> first_;
  TileCopy<T, shape.columns, shape.depth, second_along, shape.threads()> second_;
  int filled_ = 0, read_ = shape.stages - 1;
};

/// Which tile a block computes. Blocks that run together share rows and columns, which then are in
/// the level-2 cache.
struct TilePlace {
  int row, column;

  HEED_DEVICE TilePlace(const MatmulArguments& in, const MatmulTile& tile) {
    constexpr int kGroup = 8;
    const int rows = (in.rows + tile.rows - 1) / tile.rows;
    const int columns = (in.columns + tile.columns - 1) / tile.columns;
    const int block = static_cast<int>(heed::gpu::block_x());
    const int first = block / (kGroup * columns) * kGroup, in_group = block % (kGroup * columns);
    const int size = rows - first < kGroup ? rows - first : kGroup;
    row = (first + in_group % size) * tile.rows;
    column = in_group / size * tile.columns;
  }
};

/// c, or its transpose, where sums begin and end.
template <bool transposed>
class Output {
 public:
  HEED_DEVICE explicit Output(const MatmulArguments& in) : in_(in) {}

  HEED_DEVICE bool has(int row, int column) const { return row < in_.rows && column < in_.columns; }

  /// Whether all sums start from 0.
  HEED_DEVICE bool starts_from_zero() const { return !in_.accumulate && !in_.bias; }

  /// What a sum starts from.
  HEED_DEVICE float start(int row, int column) const {
    if (!has(row, column)) return 0.0f;
    float sum = 0.0f;
    if (in_.accumulate) {
      const int64_t at = place(row, column);
      sum = in_.c_is_bf16 ? wide(static_cast<const Bf16*>(in_.c)[at])
                          : static_cast<const float*>(in_.c)[at];
    }
    if (!in_.bias) return sum;
    const float bias = in_.bias[transposed ? row : column];
    return in_.accumulate ? sum + bias : bias;
  }

  HEED_DEVICE void put(int row, int column, float sum) const {
    if (!has(row, column)) return;
    const int64_t at = place(row, column);
    if (in_.c_is_bf16)
      static_cast<Bf16*>(in_.c)[at] = narrow<Bf16>(sum);
    else
      static_cast<float*>(in_.c)[at] = sum;
  }

  /// The sums of a column and the next, which is odd.
  HEED_DEVICE void put_pair(int row, int column, float sum, float next) const {
    if (transposed || in_.c_stride % 2 != 0 || !has(row, column + 1)) {
      put(row, column, sum);
      put(row, column + 1, next);
    } else if (in_.c_is_bf16) {
      store_pair<Bf16>(place(row, column), sum, next);
    } else {
      store_pair<float>(place(row, column), sum, next);
    }
  }

 private:
  template <typename T>
  HEED_DEVICE void store_pair(int64_t at, float sum, float next) const {
    *reinterpret_cast<Vector<T, 2>*>(static_cast<T*>(in_.c) + at) = {narrow<T>(sum),
                                                                     narrow<T>(next)};
  }

  HEED_DEVICE int64_t place(int row, int column) const {
    return transposed ? column * in_.c_stride + row : row * in_.c_stride + column;
  }

  const MatmulArguments& in_;
};

}  // namespace heed::kernels::gpu

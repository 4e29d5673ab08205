#pragma once

#include "heed/kernels/gpu/code/products/block_product.h"

// What the kernels for many rows copy into shared memory, ahead of the products.

namespace heed::kernels::gpu {

/// Where the integers of a product lie.
struct BlockSource {
  const std::byte *weight, *records;
  int strip_bytes;  // of the weight
  int weight_rows, rows, quads;
};

/// The strips and the rows of a of a block, quad by quad. Of a record of record_stride bytes the
/// first record_bytes are used; a strip is stored in groups of so many quads.
template <BlockTile tile, int record_bytes, int record_stride, int group_bytes, int group_quads>
class BlockRing {
  static constexpr int kWeightStages = tile.weight_stages(group_quads);

  std::byte *const records_, *const strips_;  // in shared memory
  const std::byte *from_records_, *from_strips_;
  int strip_bytes_, row_group_bytes_, quads_, groups_, strip_count_;

 public:
  /// first_strip: of the block.
  HEED_DEVICE BlockRing(const BlockSource& from, int first_strip)
      : records_(heed::gpu::shared_memory<std::byte>()),
        strips_(records_ + tile.stages * tile.groups * record_bytes),
        strip_bytes_(from.strip_bytes),
        row_group_bytes_(from.quads * record_stride),
        quads_(from.quads) {
    const int first_group = static_cast<int>(heed::gpu::block_y()) * tile.groups;
    from_records_ = from.records + static_cast<int64_t>(first_group) * row_group_bytes_;
    from_strips_ = from.weight + static_cast<int64_t>(first_strip) * strip_bytes_;
    const int groups = (from.rows + Record::kRows - 1) / Record::kRows - first_group;
    const int strips = (from.weight_rows + kStripRows - 1) / kStripRows - first_strip;
    groups_ = groups < tile.groups ? groups : tile.groups;
    strip_count_ = strips < tile.strips ? strips : tile.strips;
    for (int quad = 0; quad < tile.stages - 1; ++quad) fill(quad);
  }

  /// Groups of rows and strips that there are; the others are not copied.
  HEED_DEVICE int groups() const { return groups_; }
  HEED_DEVICE int strips() const { return strip_count_; }

  /// Waits for a quad, and for all threads to have used the one before, whose place gets the next.
  HEED_DEVICE void advance(int quad) {
    heed::gpu::wait_for_copies<tile.stages - 2>();
    heed::gpu::synchronize();
    fill(quad + tile.stages - 1);
  }

  HEED_DEVICE const std::byte* record(int quad, int group) const {
    return records_ + (quad % tile.stages * tile.groups + group) * record_bytes;
  }
  /// The group of quads that has `quad`.
  HEED_DEVICE const std::byte* strip(int quad, int strip) const {
    return strips_ + (quad / group_quads % kWeightStages * tile.strips + strip) * group_bytes;
  }

 private:
  /// Starts to copy a quad.
  HEED_DEVICE void fill(int quad) {
    if (quad < quads_) {
      copy<record_bytes>(from_records_ + static_cast<int64_t>(quad) * record_stride,
                         row_group_bytes_, groups_, const_cast<std::byte*>(record(quad, 0)));
      if (quad % group_quads == 0)
        copy<group_bytes>(from_strips_ + static_cast<int64_t>(quad / group_quads) * group_bytes,
                          strip_bytes_, strip_count_, const_cast<std::byte*>(strip(quad, 0)));
    }
    heed::gpu::commit_copies();
  }

  /// `count` pieces of `bytes`, which are `stride` apart.
  template <int bytes>
  static HEED_DEVICE void copy(const std::byte* from, int stride, int count, std::byte* to) {
    constexpr int kChunks = bytes / 16;
    for (int i = static_cast<int>(heed::gpu::thread_index()); i < count * kChunks;
         i += tile.threads())
      heed::gpu::copy_async_16(
          to + i * 16, from + static_cast<int64_t>(i / kChunks) * stride + i % kChunks * 16);
  }
};

/// Where a warp is in the tile of its block.
template <BlockTile tile>
struct WarpPlace {
  int strip, group;

  HEED_DEVICE WarpPlace() {
    constexpr int kWarps = tile.strips / tile.warp_strips;
    const int warp = static_cast<int>(heed::gpu::thread_index() / 32);
    strip = warp % kWarps * tile.warp_strips;
    group = warp / kWarps * tile.warp_groups;
  }

  /// The element of c that has number i of a lane's four of a strip and a group of the warp.
  HEED_DEVICE int column(int s, int lane, int i) const {
    return (strip + s) * kStripRows + lane / 4 + i / 2 * 8;
  }
  HEED_DEVICE int row(int j, int lane, int i) const {
    return static_cast<int>(heed::gpu::block_y()) * tile.rows() + (group + j) * Record::kRows +
           lane % 4 * 2 + i % 2;
  }
};

}  // namespace heed::kernels::gpu

#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "heed/kernels/attention.h"
#include "heed/kernels/gpu/code/attention/attention.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {

/// The host's values in memory of this thread's GPU, for more than one call.
template <typename T>
struct DeviceArray {
  std::shared_ptr<std::byte> memory;
  size_t size = 0;

  DeviceArray() = default;
  explicit DeviceArray(const std::vector<T>& values) : size(values.size()) {
    if (values.empty()) return;
    memory = current_gpu().allocate(size * sizeof(T));
    current_gpu().copy_to_device(memory.get(), std::as_bytes(std::span(values)));
  }
  const T* data() const { return reinterpret_cast<const T*>(memory.get()); }
};

/// How rows are shared out to blocks.
struct PlanShape {
  int heads_per_group, n_kv_heads;
  int few_rows, many_rows;  // of a block: of sequences with at most few_rows rows, and of others
  /// Bytes of the unfinished sums of a row.
  int partial_bytes;

  bool operator==(const PlanShape&) const = default;
};

/// Items of blocks with the same number of rows.
struct PlannedBlocks {
  int rows = 0;
  DeviceArray<AttentionItem> items;
  /// Those of `items` that have unfinished results, of all tiles of their rows.
  DeviceArray<AttentionItem> merges;
};

struct AttentionPlan {
  PlanShape shape;
  PlannedBlocks few, many;
  int partial_rows = 0;
};

/// Spans in memory of a GPU, and what kernels make of them. Made once a pass: see KeptOnDevice.
class UploadedSpans {
 public:
  UploadedSpans(const AttentionMetadata& spans, Gpu& gpu);

  /// Those of `spans` on this thread's GPU.
  static std::shared_ptr<UploadedSpans> of(const AttentionMetadata& spans);

  const int32_t* q_offsets() const { return offsets_.data(); }
  const int32_t* kv_begin() const { return offsets_.data() + sequences_ + 1; }
  const int32_t* kv_end() const { return kv_begin() + sequences_; }
  const int32_t* kv_rows() const { return kv_rows_.data(); }  // null without

  /// The rows of the new tokens' keys.
  const int32_t* new_rows(const AttentionMetadata& spans);
  std::shared_ptr<const AttentionPlan> plan(const AttentionMetadata& spans, const PlanShape& shape);

 private:
  Gpu& gpu_;
  size_t sequences_;
  DeviceArray<int32_t> offsets_, kv_rows_;
  std::mutex mutex_;
  DeviceArray<int32_t> new_rows_;
  std::vector<std::shared_ptr<const AttentionPlan>> plans_;
};

}  // namespace heed::kernels::gpu

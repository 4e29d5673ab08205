#include "heed/kernels/gpu/spans.h"

#include <algorithm>

#include "heed/base/rounding.h"

namespace heed::kernels::gpu {
namespace {

/// Unfinished sums take at most so much memory.
constexpr int64_t kMaxPartialBytes = int64_t{256} << 20;
/// Blocks that keep a multiprocessor busy: those of few rows wait for memory, and those of many
/// would write more unfinished sums than they read keys.
constexpr int64_t kFewBlocksEach = 4, kManyBlocksEach = 1;

std::vector<int32_t> joined(const AttentionMetadata& spans) {
  std::vector<int32_t> all = spans.q_offsets;
  all.insert(all.end(), spans.kv_begin.begin(), spans.kv_begin.end());
  all.insert(all.end(), spans.kv_end.begin(), spans.kv_end.end());
  return all;
}

int queries_of(const AttentionMetadata& spans, size_t sequence) {
  return spans.q_offsets[sequence + 1] - spans.q_offsets[sequence];
}
int keys_of(const AttentionMetadata& spans, size_t sequence) {
  return spans.kv_end[sequence] - spans.kv_begin[sequence];
}

/// Items with all tiles of their rows, those with the most keys first.
std::vector<AttentionItem> whole_items(const AttentionMetadata& spans, const PlanShape& shape,
                                       bool few) {
  std::vector<AttentionItem> items;
  const int each = few ? shape.few_rows : shape.many_rows;
  for (size_t b = 0; b < spans.kv_begin.size(); ++b) {
    const int rows = queries_of(spans, b) * shape.heads_per_group;
    if ((rows <= shape.few_rows) != few) continue;
    const int tiles = ceil_div(keys_of(spans, b), kTileKeys);
    for (int row = 0; row < rows; row += each)
      items.push_back({static_cast<int>(b), row, std::min(each, rows - row), 0, tiles, -1});
  }
  // Of a causal mask.
  const auto last_key = [&](const AttentionItem& item) {
    const auto b = static_cast<size_t>(item.sequence);
    return keys_of(spans, b) - queries_of(spans, b) +
           (item.row_begin + item.rows) / shape.heads_per_group;
  };
  std::ranges::stable_sort(items, std::ranges::greater(), last_key);
  return items;
}

/// Divides the tiles of items among more of them if there are too few for the `wanted` blocks.
PlannedBlocks planned(const std::vector<AttentionItem>& whole, int rows, const PlanShape& shape,
                      int64_t wanted, int& partial_rows) {
  const int64_t blocks = static_cast<int64_t>(whole.size()) * shape.n_kv_heads;
  std::vector<AttentionItem> items, merges;
  for (AttentionItem item : whole) {
    const int64_t parts = std::min<int64_t>(item.tile_end, wanted / blocks);
    const int64_t sums = int64_t{item.tile_end} * item.rows;
    if (parts <= 1 || (partial_rows + sums) * shape.partial_bytes > kMaxPartialBytes) {
      items.push_back(item);
      continue;
    }
    item.partial = partial_rows;
    merges.push_back(item);
    const int tiles = item.tile_end, each = static_cast<int>(ceil_div<int64_t>(tiles, parts));
    for (item.tile_begin = 0; item.tile_begin < tiles; item.tile_begin += each) {
      item.tile_end = std::min(item.tile_begin + each, tiles);
      item.partial = partial_rows + item.tile_begin * item.rows;
      items.push_back(item);
    }
    partial_rows += static_cast<int>(sums);
  }
  return {rows, DeviceArray(items), DeviceArray(merges)};
}

}  // namespace

UploadedSpans::UploadedSpans(const AttentionMetadata& spans, Gpu& gpu)
    : gpu_(gpu),
      sequences_(spans.kv_begin.size()),
      offsets_(joined(spans)),
      kv_rows_(spans.kv_rows) {}

std::shared_ptr<UploadedSpans> UploadedSpans::of(const AttentionMetadata& spans) {
  return spans.kept.with([&](std::shared_ptr<void>& kept) {
    auto uploaded = std::static_pointer_cast<UploadedSpans>(kept);
    if (!uploaded || &uploaded->gpu_ != &current_gpu()) {
      uploaded = std::make_shared<UploadedSpans>(spans, current_gpu());
      kept = uploaded;
    }
    return uploaded;
  });
}

const int32_t* UploadedSpans::new_rows(const AttentionMetadata& spans) {
  const std::lock_guard lock(mutex_);
  if (!new_rows_.memory) {
    std::vector<int32_t> rows;
    for (size_t b = 0; b < spans.kv_end.size(); ++b)
      for (int32_t key = spans.kv_end[b] - queries_of(spans, b); key < spans.kv_end[b]; ++key)
        rows.push_back(spans.kv_rows.empty() ? key : spans.kv_rows[static_cast<size_t>(key)]);
    new_rows_ = DeviceArray(rows);
  }
  return new_rows_.data();
}

std::shared_ptr<const AttentionPlan> UploadedSpans::plan(const AttentionMetadata& spans,
                                                         const PlanShape& shape) {
  const std::lock_guard lock(mutex_);
  for (const auto& plan : plans_)
    if (plan->shape == shape) return plan;
  auto made = std::make_shared<AttentionPlan>();
  made->shape = shape;
  const int64_t multiprocessors = gpu_.properties().multiprocessors;
  made->few = planned(whole_items(spans, shape, true), shape.few_rows, shape,
                      kFewBlocksEach * multiprocessors, made->partial_rows);
  made->many = planned(whole_items(spans, shape, false), shape.many_rows, shape,
                       kManyBlocksEach * multiprocessors, made->partial_rows);
  plans_.push_back(made);
  return made;
}

}  // namespace heed::kernels::gpu

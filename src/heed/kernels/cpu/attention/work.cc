#include "heed/kernels/cpu/attention/work.h"

#include <array>
#include <memory>
#include <new>

#include "heed/base/rounding.h"

namespace heed::kernels::cpu {
namespace {

constexpr std::align_val_t kAlignment{64};

struct Free {
  void operator()(float* memory) const { ::operator delete[](memory, kAlignment); }
};

struct Buffer {
  std::unique_ptr<float[], Free> floats;
  int64_t size = 0;
};

}  // namespace

AttentionShape::AttentionShape(const AttentionForward& in)
    : AttentionOptions(in.options),
      heads_per_group(n_heads / n_kv_heads),
      d(in.q.cols() / n_heads),
      dv(in.v.cols() / n_kv_heads),
      relative_bias(in.relative_bias.defined() ? in.relative_bias.data<float>() : nullptr),
      reach(in.relative_bias.defined() ? (in.relative_bias.cols() + 1) / 2 : 0),
      pair_bias(in.pair_bias.defined() ? in.pair_bias.data<float>() : nullptr),
      pairs(in.pair_bias.cols()),
      sinks(in.sinks.defined() ? in.sinks.data<float>() : nullptr),
      kv_rows(in.spans.kv_rows.empty() ? nullptr : in.spans.kv_rows.data()) {}

void find_groups(const AttentionMetadata& spans, const AttentionShape& shape, bool merge,
                 std::vector<AttentionGroup>& groups) {
  const size_t count = spans.kv_begin.size();
  groups.clear();
  groups.reserve(count * static_cast<size_t>(shape.n_kv_heads));
  int64_t pair = 0;
  for (size_t b = 0; b < count;) {
    size_t end = b + 1;
    while (merge && end < count && spans.kv_begin[end] == spans.kv_begin[b] &&
           spans.kv_end[end] == spans.kv_end[b])
      ++end;
    for (int64_t g = 0; g < shape.n_kv_heads; ++g)
      groups.push_back({spans.q_offsets[b], spans.q_offsets[end] - spans.q_offsets[b],
                        spans.kv_begin[b], spans.kv_end[b] - spans.kv_begin[b], g, &shape, pair});
    pair += int64_t{spans.q_offsets[b + 1] - spans.q_offsets[b]} *
            (spans.kv_end[b] - spans.kv_begin[b]);
    b = end;
  }
}

void add_row_blocks(const AttentionGroup& group, int64_t shares,
                    std::vector<AttentionTask>& tasks) {
  const int64_t rows = group.rows();
  if (rows == 0) return;
  const int64_t blocks = std::max(shares, ceil_div(rows, kRowBlock));
  const int64_t even = ceil_div(rows, blocks);
  const int64_t block_rows = round_up(even, kPanelRows);
  for (int64_t begin = 0; begin < rows; begin += block_rows)
    tasks.push_back({group, begin, std::min(begin + block_rows, rows), 0, group.keys});
}

float* scratch(Slot slot, int64_t floats) {
  thread_local std::array<Buffer, static_cast<size_t>(Slot::count)> buffers;
  Buffer& buffer = buffers[static_cast<size_t>(slot)];
  if (buffer.size < floats) {
    buffer.floats.reset();
    buffer.size = 0;
    buffer.floats.reset(static_cast<float*>(
        ::operator new[](static_cast<size_t>(floats) * sizeof(float), kAlignment)));
    buffer.size = floats;
  }
  return buffer.floats.get();
}

}  // namespace heed::kernels::cpu

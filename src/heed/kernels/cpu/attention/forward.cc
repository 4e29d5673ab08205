#include <type_traits>

#include "heed/base/rounding.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/cpu/attention/work.h"
#include "heed/tensor/allocator.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/attention/forward.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/attention/forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

/// Runs a task. If `partials` is not null, the keys of the task are one split, and its partial
/// results go there.
void run_task(const cpu::ForwardTensors& tensors, const cpu::AttentionTask& task, float* partials) {
  const auto run = [&](auto key) {
    ForwardTile<decltype(key)> tile(tensors, task);
    partials ? tile.run_split(task.key_begin / cpu::kSplitKeys, partials) : tile.run();
  };
  tensors.kv_dtype == DType::q8_0 ? run(BlockQ8_0{}) : visit_floating(tensors.kv_dtype, run);
}

/// Merges the partial results over the splits of a group's keys.
void merge_partials(const cpu::ForwardResults& results, const cpu::AttentionGroup& group,
                    float* partials) {
  const int64_t floats = cpu::partial_floats(*group.shape), width = padded(group.shape->dv);
  float* values = cpu::scratch(cpu::Slot::out, width);
  for (int64_t r = 0; r < group.rows(); ++r) {
    OnlineSoftmax all;
    for (int64_t split = 0; split < cpu::kv_splits(group); ++split) {
      float* from = partials + (split * group.rows() + r) * floats;
      OnlineSoftmax softmax{from[floats - 2], from[floats - 1]};
      merge({from, &softmax}, width, {values, &all});
    }
    finish_row(results, group, r, {values, &all});
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(run_task);
HWY_EXPORT(merge_partials);

namespace cpu {
namespace {

/// Multiplications that are not worth waking a thread for.
constexpr int64_t kSmallWork = int64_t{1} << 16;
/// The most rows of a group for which tasks are splits of the keys; with more, they are row blocks.
constexpr int64_t kMaxSplitRows = 32;
/// Groups per chunk when partial results are merged.
constexpr int64_t kMergeGrain = 16;

int64_t work_of(const std::vector<AttentionGroup>& groups, const AttentionShape& shape) {
  int64_t keys = 0;
  for (const AttentionGroup& group : groups) keys += group.rows() * group.keys;
  return keys * (shape.d + shape.dv);
}

/// Whether to use split-KV. Decode attention over a long context has few rows and many keys: a task
/// is then all rows of a group and one split of its keys, so that all threads work.
bool splits_keys(const std::vector<AttentionGroup>& groups) {
  int64_t max_splits = 0, max_rows = 0;
  for (const AttentionGroup& group : groups) {
    max_splits = std::max(max_splits, kv_splits(group));
    max_rows = std::max(max_rows, group.rows());
  }
  return max_splits > 1 && max_rows <= kMaxSplitRows;
}

/// One split of a group's keys, and the offset of its partial results, in floats.
struct SplitTask {
  AttentionTask task;
  int64_t offset;
};

/// Lists a task for every split of every group, and the offset of each group's partial results,
/// which are contiguous. Returns the number of floats of all. The heads of a sequence, whose keys
/// are neighbours in memory, have their tasks for a split in succession, so that it is read from
/// memory once.
int64_t split_keys(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
                   std::vector<SplitTask>& tasks, std::vector<int64_t>& offsets) {
  tasks.clear();
  offsets.clear();
  int64_t floats = 0;
  for (size_t first = 0; first < groups.size(); first += static_cast<size_t>(shape.n_kv_heads)) {
    const int64_t rows = groups[first].rows(), splits = rows > 0 ? kv_splits(groups[first]) : 0;
    const int64_t split_floats = rows * partial_floats(shape);
    for (int64_t split = 0; split < splits; ++split)
      for (int64_t head = 0; head < shape.n_kv_heads; ++head) {
        const AttentionGroup& group = groups[first + static_cast<size_t>(head)];
        const int64_t key = split * kSplitKeys;
        tasks.push_back({{group, 0, rows, key, std::min(key + kSplitKeys, group.keys)},
                         floats + (head * splits + split) * split_floats});
      }
    for (int64_t head = 0; head < shape.n_kv_heads; ++head, floats += splits * split_floats)
      offsets.push_back(floats);
  }
  return floats;
}

void run_split_kv(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
                  const ForwardTensors& tensors) {
  thread_local std::vector<SplitTask> own_tasks;
  thread_local std::vector<int64_t> own_offsets;
  const int64_t floats = split_keys(groups, shape, own_tasks, own_offsets);
  const auto memory = allocate(static_cast<size_t>(floats) * sizeof(float));
  auto* partials = reinterpret_cast<float*>(memory.get());
  // The bodies run on other threads, which have lists of their own.
  const std::vector<SplitTask>& tasks = own_tasks;
  const std::vector<int64_t>& offsets = own_offsets;
  parallel_for(static_cast<int64_t>(tasks.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      HWY_DYNAMIC_DISPATCH(run_task)(tensors, tasks[i].task, partials + tasks[i].offset);
  });
  parallel_for(static_cast<int64_t>(groups.size()), kMergeGrain, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      HWY_DYNAMIC_DISPATCH(merge_partials)(tensors.results, groups[i], partials + offsets[i]);
  });
}

void run(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
         const ForwardTensors& tensors) {
  if (splits_keys(groups)) return run_split_kv(groups, shape, tensors);
  thread_local std::vector<AttentionTask> tasks;
  tasks.clear();
  // With fewer groups than threads (one sequence whose heads share a key), threads share a group.
  const int64_t count = std::max<int64_t>(static_cast<int64_t>(groups.size()), 1);
  const int64_t shares = ceil_div<int64_t>(thread_count(), count);
  const bool small = work_of(groups, shape) <= kSmallWork;
  for (const AttentionGroup& group : groups) add_row_blocks(group, small ? 1 : shares, tasks);
  const auto body = [&](const AttentionTask& task) {
    HWY_DYNAMIC_DISPATCH(run_task)(tensors, task, nullptr);
  };
  if (small)
    for (const AttentionTask& task : tasks) body(task);
  else
    for_tasks(tasks, shape, body);
}

/// Calls visitor(K{}) for the type of keys and values.
template <typename Visitor>
void visit_keys(const AttentionForward& in, const AttentionShape& shape, const Visitor& visitor) {
  if (in.k.dtype() != DType::q8_0) return visit_floating(in.k.dtype(), visitor);
  require(shape.d % BlockQ8_0::kElements == 0 && shape.dv % BlockQ8_0::kElements == 0,
          "attention: keys of {} and values of {} elements a head are not whole blocks of {}",
          shape.d, shape.dv, BlockQ8_0::kElements);
  visitor(BlockQ8_0{});
}

}  // namespace

void attention_forward(const AttentionForward& in, Tensor& out, Tensor& logsumexp) {
  const AttentionShape shape(in);
  // Merged sequences have different positions.
  const bool merge = !shape.causal && !shape.relative_bias && !shape.pair_bias && shape.window == 0;
  thread_local std::vector<AttentionGroup> groups;
  find_groups(in.spans, shape, merge, groups);
  visit_floating(in.q.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const ForwardResults results{dtype_of<T>, reinterpret_cast<std::byte*>(out.data<T>()),
                                 logsumexp.data<float>()};
    visit_keys(in, shape, [&](auto key) {
      using K = decltype(key);
      require(std::is_same_v<T, float> || !std::is_same_v<K, float>,
              "attention: the queries are bf16 and the keys f32, expected keys in bf16 or q8_0");
      run(groups, shape,
          {in.q.raw(), reinterpret_cast<const std::byte*>(in.k.data<K>()),
           reinterpret_cast<const std::byte*>(in.v.data<K>()), dtype_of<K>, results});
    });
  });
}

}  // namespace cpu
}  // namespace heed::kernels
#endif  // HWY_ONCE

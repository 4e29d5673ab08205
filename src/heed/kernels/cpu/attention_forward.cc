#include <type_traits>

#include "heed/base/rounding.h"
#include "heed/kernels/attention.h"
#include "heed/kernels/cpu/attention_work.h"
#include "heed/tensor/allocator.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "heed/kernels/cpu/attention_forward.cc"
#include <hwy/foreach_target.h>

#include "heed/kernels/cpu/attention_forward-inl.h"

HWY_BEFORE_NAMESPACE();
namespace heed::kernels {
namespace HWY_NAMESPACE {

// A function for each pair of types: what HWY_EXPORT names is no template.
#define HEED_FORWARD(name, T, K)                                                      \
  void name(const cpu::ForwardTensors<T, K>& tensors, const cpu::AttentionTask& task, \
            float* piece) {                                                           \
    ForwardTile<T, K> tile(tensors, task);                                            \
    piece ? tile.run_piece(task.key_begin / cpu::kKeyPiece, piece) : tile.run();      \
  }
HEED_FORWARD(forward_f32, float, float)
HEED_FORWARD(forward_f32_bf16, float, bfloat16)
HEED_FORWARD(forward_f32_q8, float, BlockQ8_0)
HEED_FORWARD(forward_bf16, bfloat16, bfloat16)
HEED_FORWARD(forward_bf16_q8, bfloat16, BlockQ8_0)
#undef HEED_FORWARD

void join_f32(const cpu::ForwardResults<float>& results, const cpu::AttentionGroup& group,
              float* pieces) {
  join_pieces(results, group, pieces);
}
void join_bf16(const cpu::ForwardResults<bfloat16>& results, const cpu::AttentionGroup& group,
               float* pieces) {
  join_pieces(results, group, pieces);
}

}  // namespace HWY_NAMESPACE
}  // namespace heed::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heed::kernels {

HWY_EXPORT(forward_f32);
HWY_EXPORT(forward_f32_bf16);
HWY_EXPORT(forward_f32_q8);
HWY_EXPORT(forward_bf16);
HWY_EXPORT(forward_bf16_q8);
HWY_EXPORT(join_f32);
HWY_EXPORT(join_bf16);

namespace cpu {
namespace {

template <typename T, typename K>
void forward(const ForwardTensors<T, K>& tensors, const AttentionTask& task, float* piece) {
  constexpr bool f32 = sizeof(T) == sizeof(float);
  if constexpr (f32 && std::is_same_v<K, float>)
    HWY_DYNAMIC_DISPATCH(forward_f32)(tensors, task, piece);
  else if constexpr (f32 && std::is_same_v<K, bfloat16>)
    HWY_DYNAMIC_DISPATCH(forward_f32_bf16)(tensors, task, piece);
  else if constexpr (f32)
    HWY_DYNAMIC_DISPATCH(forward_f32_q8)(tensors, task, piece);
  else if constexpr (std::is_same_v<K, bfloat16>)
    HWY_DYNAMIC_DISPATCH(forward_bf16)(tensors, task, piece);
  else
    HWY_DYNAMIC_DISPATCH(forward_bf16_q8)(tensors, task, piece);
}

void join(const ForwardResults<float>& results, const AttentionGroup& group, float* pieces) {
  HWY_DYNAMIC_DISPATCH(join_f32)(results, group, pieces);
}
void join(const ForwardResults<bfloat16>& results, const AttentionGroup& group, float* pieces) {
  HWY_DYNAMIC_DISPATCH(join_bf16)(results, group, pieces);
}

/// Multiplications that are not worth waking a thread for.
constexpr int64_t kSmallWork = int64_t{1} << 16;
/// Of a group whose keys threads share: more rows are shared themselves.
constexpr int64_t kSharedRows = 32;

int64_t work_of(const std::vector<AttentionGroup>& groups, const AttentionShape& shape) {
  int64_t keys = 0;
  for (const AttentionGroup& group : groups) keys += group.rows() * group.keys;
  return keys * (shape.d + shape.dv);
}

/// Few rows and many keys in groups too few to keep the threads busy: a thread takes a piece of the
/// keys. The rows of a group are then one task.
bool shares_keys(const std::vector<AttentionGroup>& groups) {
  const auto threads = static_cast<size_t>(thread_count());
  if (threads == 1 || groups.size() >= 8 * threads) return false;
  int64_t most_pieces = 0, most_rows = 0;
  for (const AttentionGroup& group : groups) {
    most_pieces = std::max(most_pieces, pieces_of(group));
    most_rows = std::max(most_rows, group.rows());
  }
  return most_pieces > 1 && most_rows <= kSharedRows;
}

template <typename Tensors>
void run_shared(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
                const Tensors& tensors) {
  thread_local std::vector<AttentionTask> tasks;
  thread_local std::vector<int64_t> places;  // of each task's piece among the floats of all
  tasks.clear();
  places.assign(1, 0);
  for (const AttentionGroup& group : groups)
    for (int64_t piece = 0; piece < pieces_of(group) && group.rows() > 0; ++piece) {
      const int64_t key = piece * kKeyPiece;
      tasks.push_back({group, 0, group.rows(), key, std::min(key + kKeyPiece, group.keys)});
      places.push_back(places.back() + group.rows() * piece_floats(shape));
    }
  const auto memory = allocate(static_cast<size_t>(places.back()) * sizeof(float));
  auto* pieces = reinterpret_cast<float*>(memory.get());
  // Bodies run on other threads, which have such lists of their own.
  const std::vector<AttentionTask>& all = tasks;
  const std::vector<int64_t>& at = places;
  parallel_for(static_cast<int64_t>(all.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      forward(tensors, all[i], pieces + at[i]);
  });
  for (const AttentionGroup& group : groups) {
    join(tensors.results, group, pieces);
    pieces += group.rows() * pieces_of(group) * piece_floats(shape);
  }
}

template <typename Tensors>
void run(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
         const Tensors& tensors) {
  if (shares_keys(groups)) return run_shared(groups, shape, tensors);
  thread_local std::vector<AttentionTask> tasks;
  tasks.clear();
  // Fewer groups than threads (one sequence whose heads share a key): each is for several threads.
  const int64_t count = std::max<int64_t>(static_cast<int64_t>(groups.size()), 1);
  const int64_t shares = ceil_div<int64_t>(thread_count(), count);
  const bool small = work_of(groups, shape) <= kSmallWork;
  for (const AttentionGroup& group : groups) add_row_blocks(group, small ? 1 : shares, tasks);
  const auto body = [&](const AttentionTask& task) { forward(tensors, task, nullptr); };
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
          "attention: keys of {} and values of {} numbers a head are no whole blocks of {}",
          shape.d, shape.dv, BlockQ8_0::kElements);
  visitor(BlockQ8_0{});
}

}  // namespace

void attention_forward(const AttentionForward& in, Tensor& out, Tensor& log_sum) {
  const AttentionShape shape(in);
  // Places among the keys are those of one sequence.
  const bool merge = !shape.causal && !shape.relative_bias;
  thread_local std::vector<AttentionGroup> groups;
  find_groups(in.spans, shape, merge, groups);
  visit_floating(in.q.dtype(), [&](auto of_query) {
    using T = decltype(of_query);
    visit_keys(in, shape, [&](auto of_key) {
      using K = decltype(of_key);
      if constexpr (std::is_same_v<T, bfloat16> && std::is_same_v<K, float>)
        fail("attention: beside queries in bf16 keys are in bf16 or q8_0, found f32");
      else
        run(groups, shape,
            ForwardTensors<T, K>{in.q.data<T>(),
                                 in.k.data<K>(),
                                 in.v.data<K>(),
                                 {out.data<T>(), log_sum.data<float>()}});
    });
  });
}

}  // namespace cpu
}  // namespace heed::kernels
#endif  // HWY_ONCE

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
/// The most rows of a group whose keys are cut into tasks; with more, the rows are.
constexpr int64_t kMostRowsOfPiece = 32;
/// Whose pieces a thread joins at a time; for fewer groups none is woken.
constexpr int64_t kJoinedGroups = 16;

int64_t work_of(const std::vector<AttentionGroup>& groups, const AttentionShape& shape) {
  int64_t keys = 0;
  for (const AttentionGroup& group : groups) keys += group.rows() * group.keys;
  return keys * (shape.d + shape.dv);
}

/// Few rows and many keys, as in decoding behind a long text: the task is a piece of the keys,
/// which also keeps all threads busy, and all rows of a group.
bool cuts_keys(const std::vector<AttentionGroup>& groups) {
  int64_t most_pieces = 0, most_rows = 0;
  for (const AttentionGroup& group : groups) {
    most_pieces = std::max(most_pieces, pieces_of(group));
    most_rows = std::max(most_rows, group.rows());
  }
  return most_pieces > 1 && most_rows <= kMostRowsOfPiece;
}

/// A piece of a group's keys, and the place of its result among those of all pieces.
struct PieceTask {
  AttentionTask task;
  int64_t place;  // in floats
};

/// A task for every piece of the keys of every group; the results of a group follow each other from
/// its place on. Returns how many floats they are. The heads of a sequence, whose keys lie side by
/// side, take a piece one after the other: it comes from memory once.
int64_t cut_keys(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
                 std::vector<PieceTask>& tasks, std::vector<int64_t>& places) {
  tasks.clear();
  places.clear();
  int64_t floats = 0;
  for (size_t first = 0; first < groups.size(); first += static_cast<size_t>(shape.n_kv_heads)) {
    const int64_t rows = groups[first].rows(), pieces = rows > 0 ? pieces_of(groups[first]) : 0;
    const int64_t of_group = pieces * rows * piece_floats(shape);
    for (int64_t piece = 0; piece < pieces; ++piece)
      for (int64_t head = 0; head < shape.n_kv_heads; ++head) {
        const AttentionGroup& group = groups[first + static_cast<size_t>(head)];
        const int64_t key = piece * kKeyPiece;
        tasks.push_back({{group, 0, rows, key, std::min(key + kKeyPiece, group.keys)},
                         floats + head * of_group + piece * rows * piece_floats(shape)});
      }
    for (int64_t head = 0; head < shape.n_kv_heads; ++head, floats += of_group)
      places.push_back(floats);
  }
  return floats;
}

template <typename Tensors>
void run_by_keys(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
                 const Tensors& tensors) {
  thread_local std::vector<PieceTask> tasks;
  thread_local std::vector<int64_t> places;  // of the groups
  const int64_t floats = cut_keys(groups, shape, tasks, places);
  const auto memory = allocate(static_cast<size_t>(floats) * sizeof(float));
  auto* results = reinterpret_cast<float*>(memory.get());
  // Bodies run on other threads, which have such lists of their own.
  const std::vector<PieceTask>& all = tasks;
  const std::vector<int64_t>& at = places;
  parallel_for(static_cast<int64_t>(all.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      forward(tensors, all[i].task, results + all[i].place);
  });
  parallel_for(static_cast<int64_t>(groups.size()), kJoinedGroups, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      join(tensors.results, groups[i], results + at[i]);
  });
}

template <typename Tensors>
void run(const std::vector<AttentionGroup>& groups, const AttentionShape& shape,
         const Tensors& tensors) {
  if (cuts_keys(groups)) return run_by_keys(groups, shape, tensors);
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

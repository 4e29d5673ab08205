#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"

namespace heed::kernels::cpu {

/// Keys and query rows of a tile. The softmax goes from one block of keys to the next, counted from
/// the first key of the sequence, so kKeyBlock is part of the definition of the result.
inline constexpr int64_t kKeyBlock = 64;
inline constexpr int64_t kRowBlock = 192;
/// Every so many keys, counted from the first of the sequence, the softmax begins anew; the pieces
/// are joined in their order. So threads can share the keys of a long sequence, and the bits do not
/// tell whether they did.
inline constexpr int64_t kKeyPiece = 512;
/// Rows that a product keeps in registers.
inline constexpr int64_t kPanelRows = 6;

/// What all tiles of one call have in common.
struct AttentionShape {
  explicit AttentionShape(const AttentionForward& in);

  int64_t n_heads, n_kv_heads;
  int64_t heads_per_group;  // H / G
  int64_t d, dv;
  float scale, dropout;
  bool causal;
  int64_t window;              // 0: none
  float soft_cap;              // 0: none
  const float* relative_bias;  // [H, 2 reach - 1]; null: none
  int64_t reach;
  uint64_t dropout_key;
  const int32_t* kv_rows;  // null: key number j is row j

  int64_t bias_width() const { return 2 * reach - 1; }
  /// Whether scores are more than scaled before the softmax.
  bool adjusts_scores() const { return window > 0 || soft_cap > 0.0f || relative_bias; }
};

/// The query rows that read one key/value head of one range of keys: `queries` tokens times H / G
/// heads, token by token, so that neighbouring rows see nearly the same keys. Rows and keys are
/// counted from the first of the group.
struct AttentionGroup {
  int64_t q_begin, queries;
  int64_t kv_begin, keys;
  int64_t kv_head;
  const AttentionShape* shape;

  int64_t rows() const { return queries * shape->heads_per_group; }
  /// The query that row r belongs to.
  int64_t query(int64_t r) const {
    return shape->heads_per_group == 1 ? r : r / shape->heads_per_group;
  }
  /// Number of row r in [Nq H]: its place in q, out and log_sum, and the name of its dropout mask.
  int64_t row_index(int64_t r) const {
    const int64_t heads = shape->heads_per_group, i = query(r);
    return (q_begin + i) * shape->n_heads + kv_head * heads + (r - i * heads);
  }
  /// Number of key j in [Nk G]: its place in k and v.
  int64_t key_index(int64_t j) const {
    const int64_t number = kv_begin + j;
    return (shape->kv_rows ? shape->kv_rows[number] : number) * shape->n_kv_heads + kv_head;
  }
  /// The place of row r among the keys: the last query has that of the last key.
  int64_t place(int64_t r) const { return keys - queries + query(r); }
  /// How many keys, from the first, the mask of the future leaves to row r; grows with r.
  int64_t visible(int64_t r) const {
    if (!shape->causal) return keys;
    return std::clamp<int64_t>(place(r) + 1, 0, keys);
  }
  /// How many of these, from the first, the window hides; grows with r.
  int64_t hidden(int64_t r) const {
    if (shape->window == 0) return 0;
    return std::max<int64_t>(visible(r) - shape->window, 0);
  }
  /// The first key of the first block of which row r sees something.
  int64_t first_block(int64_t r) const { return hidden(r) / kKeyBlock * kKeyBlock; }
  /// Rows [first_row_seeing(j), end_row_seeing(j)) see key j.
  int64_t first_row_seeing(int64_t j) const {
    if (!shape->causal) return 0;
    return std::max<int64_t>(j - (keys - queries), 0) * shape->heads_per_group;
  }
  int64_t end_row_seeing(int64_t j) const {
    if (shape->window == 0) return rows();
    // A window may be much longer than the keys; those beyond all keys make no difference.
    const int64_t window = std::min(shape->window, keys);
    return std::clamp<int64_t>(j + window - (keys - queries), 0, queries) * shape->heads_per_group;
  }
  uint64_t dropout_key(int64_t r) const {
    return attention_dropout_key(shape->dropout_key, row_index(r));
  }
};

/// The groups of a call. With `merge`, neighbouring sequences that read the same keys, all of them,
/// become one group (the beams of one sentence in cross-attention), whose keys are packed once. The
/// key/value heads of a sequence follow each other.
std::vector<AttentionGroup> attention_groups(const AttentionSpans& spans,
                                             const AttentionShape& shape, bool merge);
/// The same in a list whose room is used again.
void find_groups(const AttentionSpans& spans, const AttentionShape& shape, bool merge,
                 std::vector<AttentionGroup>& groups);

/// A rectangle of a group: rows [row_begin, row_end), keys [key_begin, key_end).
struct AttentionTask {
  AttentionGroup group;
  int64_t row_begin, row_end;
  int64_t key_begin, key_end;
};

/// Appends tasks that cut the rows of `group` into blocks of at most kRowBlock, and into `shares`
/// blocks at least if there are rows enough.
void add_row_blocks(const AttentionGroup& group, int64_t shares, std::vector<AttentionTask>& tasks);

/// Calls body(task) for all tasks on all threads. The tasks of neighbouring heads, whose numbers
/// lie side by side in memory, stay on one thread where there are tasks enough.
template <typename Task, typename Body>
void for_tasks(const std::vector<Task>& tasks, const AttentionShape& shape, const Body& body) {
  const int64_t count = static_cast<int64_t>(tasks.size());
  const int64_t grain = count >= 8 * thread_count() * shape.n_kv_heads ? shape.n_kv_heads : 1;
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(tasks[static_cast<size_t>(i)]);
  });
}

/// Room for `floats` numbers on this thread, aligned to 64 bytes, contents undefined: one room a
/// slot, which stays with the thread and only grows.
enum class Slot {
  q,
  q_parts,
  k,
  k_transposed,
  v,
  v_transposed,
  scores,
  weights,
  d_scores,
  out,
  piece,
  dq,
  dk,
  dv,
  count
};
float* scratch(Slot slot, int64_t floats);

}  // namespace heed::kernels::cpu

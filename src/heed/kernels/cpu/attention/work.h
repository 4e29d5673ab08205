#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "heed/base/parallel.h"
#include "heed/kernels/attention.h"

namespace heed::kernels::cpu {

/// Keys and query rows of a tile. The online softmax proceeds by blocks of keys, counted from the
/// first key of the sequence, so the result's bits depend on kKeyBlock.
inline constexpr int64_t kKeyBlock = 64;
inline constexpr int64_t kRowBlock = 192;
/// Keys per split (split-KV, as in FlashDecoding): the softmax starts anew every so many keys,
/// counted from the first of the sequence, and the partial results are merged in their order. This
/// is always done, so threads can share the keys of a long sequence without changing any bit.
inline constexpr int64_t kSplitKeys = 512;
/// Rows whose sums a product keeps in registers.
inline constexpr int64_t kPanelRows = 6;

/// What is the same for all tiles of a call.
struct AttentionShape : AttentionOptions {
  explicit AttentionShape(const AttentionForward& in);

  int64_t heads_per_group;  // H / G
  int64_t d, dv;
  const float* relative_bias;  // [H, 2 reach - 1]; null: none
  int64_t reach;
  const float* pair_bias;  // [H, pairs]; null: none
  int64_t pairs;
  const float* sinks;      // [H]; null: none
  const int32_t* kv_rows;  // null: key j is row j

  int64_t bias_width() const { return 2 * reach - 1; }
  /// Whether anything but the scale changes scores before the softmax.
  bool adjusts_scores() const {
    return window > 0 || soft_cap > 0.0f || relative_bias || pair_bias;
  }
};

/// The query rows that read one key/value head of one range of keys: `queries` tokens times H / G
/// heads, token by token, so that neighbouring rows see nearly the same keys. Indices of rows and
/// keys are relative to the group.
struct AttentionGroup {
  int64_t q_begin, queries;
  int64_t kv_begin, keys;
  int64_t kv_head;
  const AttentionShape* shape;
  int64_t first_pair = 0;  // of the sequence, where there is a pair bias

  int64_t rows() const { return queries * shape->heads_per_group; }
  /// The query that row r belongs to.
  int64_t query(int64_t r) const {
    return shape->heads_per_group == 1 ? r : r / shape->heads_per_group;
  }
  /// The index of row r in [Nq H], for q, out, logsumexp and the dropout mask.
  int64_t row_index(int64_t r) const {
    const int64_t heads = shape->heads_per_group, i = query(r);
    return (q_begin + i) * shape->n_heads + kv_head * heads + (r - i * heads);
  }
  /// The query head of row r.
  int64_t head(int64_t r) const {
    const int64_t heads = shape->heads_per_group;
    return kv_head * heads + r % heads;
  }
  /// The index of key j in [Nk G], for k and v.
  int64_t key_index(int64_t j) const {
    const int64_t number = kv_begin + j;
    return (shape->kv_rows ? shape->kv_rows[number] : number) * shape->n_kv_heads + kv_head;
  }
  /// The index of row r and key j in the pair bias.
  int64_t pair_index(int64_t r, int64_t j) const {
    return head(r) * shape->pairs + first_pair + query(r) * keys + j;
  }
  /// The position of row r among the keys: the last query has that of the last key.
  int64_t position(int64_t r) const { return keys - queries + query(r); }
  /// The number of leading keys that the causal mask, or the end of the window, leaves to row r. It
  /// does not decrease with r.
  int64_t visible(int64_t r) const {
    if (!shape->causal && shape->window == 0) return keys;
    return std::clamp<int64_t>(position(r) + ahead(), 0, keys);
  }
  /// The number of leading keys before the window of row r. It does not decrease with r.
  int64_t outside_window(int64_t r) const {
    if (shape->window == 0) return 0;
    return std::clamp<int64_t>(position(r) + 1 - window(), 0, keys);
  }
  /// The first key of the first block that is not wholly outside the window of row r.
  int64_t first_block(int64_t r) const { return outside_window(r) / kKeyBlock * kKeyBlock; }
  /// Rows [first_row_seeing(j), end_row_seeing(j)) see key j.
  int64_t first_row_seeing(int64_t j) const {
    if (!shape->causal && shape->window == 0) return 0;
    return std::clamp<int64_t>(j + 1 - ahead() - (keys - queries), 0, queries) *
           shape->heads_per_group;
  }
  int64_t end_row_seeing(int64_t j) const {
    if (shape->window == 0) return rows();
    return std::clamp<int64_t>(j + window() - (keys - queries), 0, queries) *
           shape->heads_per_group;
  }
  uint64_t dropout_key(int64_t r) const {
    return attention_dropout_key(shape->dropout_key, row_index(r));
  }

 private:
  /// The window, limited to the longest distance between a query and a key.
  int64_t window() const { return std::min(shape->window, std::max(keys, queries)); }
  /// How many keys a query sees from its own position on.
  int64_t ahead() const { return shape->causal ? 1 : window(); }
};

/// Lists the groups of a call; those of the key/value heads of a sequence are consecutive. With
/// `merge`, neighbouring sequences with the same range of keys become one group, whose keys are
/// packed once (the beams of one sentence in cross-attention).
void find_groups(const AttentionMetadata& spans, const AttentionShape& shape, bool merge,
                 std::vector<AttentionGroup>& groups);

/// A rectangle of a group: rows [row_begin, row_end), keys [key_begin, key_end).
struct AttentionTask {
  AttentionGroup group;
  int64_t row_begin, row_end;
  int64_t key_begin, key_end;
};

/// Rows [begin, end) of a group, at most kPanelRows: some of those of a range of its queries.
struct WeightsPanel {
  const AttentionGroup& group;
  const QueryRange& range;
  int64_t begin, end;
};

/// Appends tasks that divide the rows of `group` into blocks of at most kRowBlock rows, and into at
/// least `shares` blocks if there are enough rows.
void add_row_blocks(const AttentionGroup& group, int64_t shares, std::vector<AttentionTask>& tasks);

/// Calls body(task) for all tasks on all threads. If there are many, the tasks of a sequence's
/// heads, which are neighbours in memory, stay on one thread.
template <typename Task, typename Body>
void for_tasks(const std::vector<Task>& tasks, const AttentionShape& shape, const Body& body) {
  const int64_t count = static_cast<int64_t>(tasks.size());
  const int64_t grain = count >= 8 * thread_count() * shape.n_kv_heads ? shape.n_kv_heads : 1;
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(tasks[static_cast<size_t>(i)]);
  });
}

/// Memory of this thread for `floats` numbers, aligned to 64 bytes, contents undefined. The thread
/// keeps one buffer per slot, which only grows.
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
  partial,
  dq,
  dk,
  dv,
  count
};
float* scratch(Slot slot, int64_t floats);

}  // namespace heed::kernels::cpu

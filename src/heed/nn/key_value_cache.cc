#include "heed/nn/key_value_cache.h"

#include <algorithm>
#include <cstring>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/quantize.h"

namespace heed::nn {
namespace {

/// So that the first steps of a text do not each reallocate.
constexpr int64_t kMinRows = 64;

/// Consecutive new tokens whose rows are consecutive, too.
struct Run {
  int64_t fresh, row, count;
};

/// Calls visit(Run) for the new tokens of each sequence in order. Runs are as long as possible.
template <typename Visit>
void visit_runs(const kernels::AttentionMetadata& spans, Visit&& visit) {
  Run run{0, 0, 0};
  for (size_t b = 0; b < spans.kv_end.size(); ++b) {
    const int32_t count = spans.q_offsets[b + 1] - spans.q_offsets[b];
    for (int32_t key = spans.kv_end[b] - count; key < spans.kv_end[b]; ++key) {
      const int64_t row = spans.kv_rows.empty() ? key : spans.kv_rows[static_cast<size_t>(key)];
      if (row == run.row + run.count) {
        ++run.count;
        continue;
      }
      if (run.count > 0) visit(run);
      run = {run.fresh + run.count, row, 1};
    }
  }
  if (run.count > 0) visit(run);
}

void convert(const Tensor& from, Tensor& to) {
  if (is_plain(to.dtype()))
    kernels::convert(from, to);
  else
    kernels::quantize(from, to);
}

void copy_rows(const Tensor& from, const Run& run, Tensor& to) {
  const int64_t bytes = to.row_bytes();
  std::memcpy(to.raw() + run.row * bytes, from.raw() + run.fresh * bytes,
              static_cast<size_t>(run.count * bytes));
}

}  // namespace

void KeyValueCache::write(Tensor& cached, const Tensor& fresh,
                          const kernels::AttentionMetadata& spans) const {
  int64_t needed = 0, runs = 0;
  visit_runs(spans, [&](const Run& run) {
    needed = std::max(needed, run.row + run.count);
    ++runs;
  });
  const DType dtype = stored_.value_or(fresh.dtype());
  const int64_t rows = cached.defined() ? cached.rows() : 0;
  if (rows < needed) {
    const int64_t room = std::max({needed, 2 * rows, expected_, kMinRows});
    Tensor larger = Tensor::empty({room, fresh.cols()}, dtype);
    if (rows > 0) std::memcpy(larger.raw(), cached.raw(), static_cast<size_t>(cached.bytes()));
    cached = larger;
  }
  if (dtype == fresh.dtype())
    return visit_runs(spans, [&](const Run& run) { copy_rows(fresh, run, cached); });
  if (runs == 1)
    return visit_runs(spans, [&](const Run& run) {
      Tensor target = cached.row_slice(run.row, run.row + run.count);
      convert(fresh, target);
    });
  Tensor converted = Tensor::empty(fresh.shape(), dtype);
  convert(fresh, converted);
  visit_runs(spans, [&](const Run& run) { copy_rows(converted, run, cached); });
}

KeysValues KeyValueCache::extend(const KeysValues& fresh, const kernels::AttentionMetadata& spans) {
  if (mode_ == Mode::none) return fresh;
  write(cached_.keys, fresh.keys, spans);
  if (fresh.values.defined()) write(cached_.values, fresh.values, spans);
  return cached_;
}

}  // namespace heed::nn

#include "heed/nn/key_value_cache.h"

#include <algorithm>

#include "heed/kernels/key_rows.h"

namespace heed::nn {
namespace {

/// So that the first steps of a text do not each reallocate.
constexpr int64_t kMinRows = 64;

}  // namespace

void KeyValueCache::write(Tensor& cached, const Tensor& fresh,
                          const kernels::AttentionMetadata& spans) const {
  int64_t needed = 0;
  kernels::visit_key_runs(
      spans, [&](const kernels::KeyRun& run) { needed = std::max(needed, run.row + run.count); });
  grow(cached, needed, fresh.cols(), stored_.value_or(fresh.dtype()));
  kernels::write_key_rows(fresh, spans, cached);
}

void KeyValueCache::grow(Tensor& cached, int64_t needed, int64_t cols, DType dtype) const {
  const int64_t rows = cached.defined() ? cached.rows() : 0;
  if (rows >= needed) return;
  const int64_t room = std::max({needed, 2 * rows, expected_, kMinRows});
  Tensor larger = Tensor::empty({room, cols}, dtype);
  if (rows > 0) larger.row_slice(0, rows).assign(cached);
  cached = larger;
}

void KeyValueCache::make_room(int64_t rows) {
  for (Tensor* const cached : {&cached_.keys, &cached_.values})
    if (cached->defined()) grow(*cached, rows, cached->cols(), cached->dtype());
}

KeysValues KeyValueCache::extend(const KeysValues& fresh, const kernels::AttentionMetadata& spans) {
  if (mode_ == Mode::none) return fresh;
  write(cached_.keys, fresh.keys, spans);
  if (fresh.values.defined()) write(cached_.values, fresh.values, spans);
  return cached_;
}

}  // namespace heed::nn

#include "heed/nn/key_value_cache.h"

#include <algorithm>
#include <cstring>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/quantize.h"

namespace heed::nn {
namespace {

/// So that the first steps of a text do not each reallocate.
constexpr int64_t kMinRows = 64;

}  // namespace

void KeyValueCache::append(Tensor& cached, const Tensor& fresh) const {
  const int64_t needed = rows_ + fresh.rows();
  const DType dtype = stored_.value_or(fresh.dtype());
  if (!cached.defined() || cached.rows() < needed) {
    const int64_t room = std::max({needed, 2 * rows_, expected_, kMinRows});
    Tensor larger = Tensor::empty({room, fresh.cols()}, dtype);
    if (rows_)
      std::memcpy(larger.raw(), cached.raw(), static_cast<size_t>(rows_ * larger.row_bytes()));
    cached = larger;
  }
  Tensor rows = cached.row_slice(rows_, needed);
  if (dtype == fresh.dtype())
    std::memcpy(rows.raw(), fresh.raw(), static_cast<size_t>(fresh.bytes()));
  else if (is_plain(dtype))
    kernels::convert(fresh, rows);
  else
    kernels::quantize(fresh, rows);
}

KeysValues KeyValueCache::extend(const KeysValues& fresh) {
  if (mode_ == Mode::forget) return fresh;
  append(cached_.keys, fresh.keys);
  if (fresh.values.defined()) append(cached_.values, fresh.values);
  rows_ += fresh.keys.rows();
  return {cached_.keys.row_slice(0, rows_),
          fresh.values.defined() ? cached_.values.row_slice(0, rows_) : Tensor()};
}

}  // namespace heed::nn

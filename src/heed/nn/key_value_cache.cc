#include "heed/nn/key_value_cache.h"

#include <algorithm>
#include <cstring>

namespace heed::nn {
namespace {

void append_rows(Tensor& kept, int64_t rows, const Tensor& fresh) {
  const int64_t needed = rows + fresh.rows();
  const auto row_bytes = static_cast<size_t>(fresh.cols() * size_of(fresh.dtype()));
  if (!kept.defined() || kept.rows() < needed) {
    Tensor larger = Tensor::empty({std::max(2 * rows, needed), fresh.cols()}, fresh.dtype());
    if (rows) std::memcpy(larger.raw(), kept.raw(), static_cast<size_t>(rows) * row_bytes);
    kept = larger;
  }
  std::memcpy(kept.raw() + static_cast<size_t>(rows) * row_bytes, fresh.raw(),
              static_cast<size_t>(fresh.bytes()));
}

}  // namespace

KeysValues KeyValueCache::extend(const KeysValues& fresh) {
  if (mode_ == Mode::forget) return fresh;
  append_rows(kept_.keys, rows_, fresh.keys);
  if (fresh.values.defined()) append_rows(kept_.values, rows_, fresh.values);
  rows_ += fresh.keys.rows();
  return {kept_.keys.row_slice(0, rows_),
          fresh.values.defined() ? kept_.values.row_slice(0, rows_) : Tensor()};
}

}  // namespace heed::nn

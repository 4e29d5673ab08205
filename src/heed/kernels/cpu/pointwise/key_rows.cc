#include "heed/kernels/key_rows.h"

#include <cstring>

#include "heed/kernels/elementwise.h"
#include "heed/kernels/quantize.h"

namespace heed::kernels::cpu {
namespace {

void convert_keys(const Tensor& from, Tensor& to) {
  if (is_plain(to.dtype()))
    convert(from, to);
  else
    quantize_weighted(from, {}, to);
}

void copy_run(const Tensor& from, const KeyRun& run, Tensor& to) {
  const int64_t bytes = to.row_bytes();
  std::memcpy(to.raw() + run.row * bytes, from.raw() + run.fresh * bytes,
              static_cast<size_t>(run.count * bytes));
}

}  // namespace

void write_key_rows(const Tensor& x, const AttentionMetadata& spans, Tensor& cached) {
  if (cached.dtype() == x.dtype())
    return visit_key_runs(spans, [&](const KeyRun& run) { copy_run(x, run, cached); });
  int64_t runs = 0;
  visit_key_runs(spans, [&](const KeyRun&) { ++runs; });
  if (runs == 1)
    return visit_key_runs(spans, [&](const KeyRun& run) {
      Tensor target = cached.row_slice(run.row, run.row + run.count);
      convert_keys(x, target);
    });
  Tensor converted = Tensor::empty(x.shape(), cached.dtype());
  convert_keys(x, converted);
  visit_key_runs(spans, [&](const KeyRun& run) { copy_run(converted, run, cached); });
}

}  // namespace heed::kernels::cpu

#include "heed/kernels/key_rows.h"

#include <fmt/format.h>

#include "heed/kernels/gpu/code/attention/key_rows.h"
#include "heed/kernels/gpu/spans.h"

namespace heed::kernels::gpu {
namespace {

constexpr unsigned kKeyRowsThreads = 128;

const char* key_rows_kernel(DType from, DType to) {
  const bool f32 = from == DType::f32;
  switch (to) {
    case DType::f32:
      return f32 ? "key_rows_f32_f32" : "key_rows_bf16_f32";
    case DType::bf16:
      return f32 ? "key_rows_f32_bf16" : "key_rows_bf16_bf16";
    case DType::q8_0:
      return f32 ? "key_rows_f32_q8_0" : "key_rows_bf16_q8_0";
    default:
      fail("keys are not kept in {}", name_of(to));
  }
}

}  // namespace

void write_key_rows(const Tensor& x, const AttentionMetadata& spans, Tensor& cached) {
  if (x.elements() == 0) return;
  const bool blocks = cached.dtype() == DType::q8_0;
  const int64_t each = blocks ? 32 : x.cols() % 4 == 0 ? 4 : 1;
  launch(key_rows_kernel(x.dtype(), cached.dtype()),
         {.x = blocks_for(x.elements() / each, kKeyRowsThreads), .threads = kKeyRowsThreads},
         KeyRowsArguments{memory(x), memory(cached), UploadedSpans::of(spans)->new_rows(spans),
                          blocks ? current_gpu().refused_flag() : nullptr,
                          static_cast<int>(x.rows()), static_cast<int>(x.cols())});
}

}  // namespace heed::kernels::gpu

#include "heed/kernels/key_rows.h"

#include <cstring>

#include "heed/kernels/quantize.h"

namespace heed::kernels::reference {

void write_key_rows(const Tensor& x, const AttentionMetadata& spans, Tensor& cached) {
  Tensor converted = Tensor::empty(x.shape(), cached.dtype());
  quantize_weighted(x, {}, converted);
  const auto bytes = static_cast<size_t>(cached.row_bytes());
  size_t token = 0;
  for (size_t b = 0; b < spans.kv_end.size(); ++b) {
    const int32_t count = spans.q_offsets[b + 1] - spans.q_offsets[b];
    for (int32_t key = spans.kv_end[b] - count; key < spans.kv_end[b]; ++key, ++token) {
      const int32_t row = spans.kv_rows.empty() ? key : spans.kv_rows[static_cast<size_t>(key)];
      std::memcpy(cached.raw() + static_cast<size_t>(row) * bytes, converted.raw() + token * bytes,
                  bytes);
    }
  }
}

}  // namespace heed::kernels::reference

#include "heed/kernels/top_k.h"

#include "heed/kernels/gpu/code/reductions/top_k.h"
#include "heed/kernels/gpu/launch.h"

namespace heed::kernels::gpu {

void top_k(const Tensor& x, int64_t k, Tensor& values, Tensor& indices) {
  if (x.rows() == 0) return;
  const unsigned rows = static_cast<unsigned>(x.rows());
  const unsigned parts = std::max(1u, blocks_for(x.cols(), kTopKColumns));
  const std::shared_ptr<std::byte> keys =
      parts == 1 ? nullptr
                 : current_gpu().allocate(size_t{rows} * parts * static_cast<size_t>(k) *
                                          sizeof(uint64_t));
  const TopKArguments arguments{.x = elements<float>(x),
                                .keys = reinterpret_cast<uint64_t*>(keys.get()),
                                .values = elements<float>(values),
                                .indices = elements<int32_t>(indices),
                                .columns = static_cast<int>(x.cols()),
                                .parts = static_cast<int>(parts),
                                .k = static_cast<int>(k)};
  constexpr size_t kSets = 2;
  launch("top_k_of_parts",
         {.x = rows * parts,
          .threads = kTopKThreads,
          .shared_bytes = kSets * kTopKThreads / 32 * sizeof(uint64_t)},
         arguments);
  if (parts > 1)
    launch("top_k_of_rows", {.x = rows, .threads = 32, .shared_bytes = parts * sizeof(int)},
           arguments);
}

}  // namespace heed::kernels::gpu

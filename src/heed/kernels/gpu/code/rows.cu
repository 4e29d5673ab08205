#include "heed/kernels/gpu/code/rows.h"

#include "heed/kernels/gpu/code/units.h"

namespace heed::kernels::gpu {
namespace {

using namespace heed::gpu;

template <typename Unit>
HEED_DEVICE void gather(const GatherRowsArguments& in) {
  const int column = static_cast<int>(block_y() * block_threads() + thread_index());
  if (column >= in.columns) return;
  const int64_t to = block_x(), from = in.rows[to];
  static_cast<Unit*>(in.y)[to * in.columns + column] =
      static_cast<const Unit*>(in.x)[from * in.columns + column];
}

}  // namespace

HEED_GPU_KERNEL(gather_rows_2, GatherRowsArguments, in) { gather<uint16_t>(in); }
HEED_GPU_KERNEL(gather_rows_4, GatherRowsArguments, in) { gather<uint32_t>(in); }
HEED_GPU_KERNEL(gather_rows_16, GatherRowsArguments, in) { gather<Unit16>(in); }

}  // namespace heed::kernels::gpu

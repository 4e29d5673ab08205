#include "heed/compute.h"
#include "heed/kernels/cpu/simd/instructions.h"

namespace heed {

void require_known_machine() { kernels::cpu::has(kernels::cpu::Instructions::none); }

}  // namespace heed

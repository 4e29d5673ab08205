#pragma once

// Lists of types that kernels are instantiated for, and that the host chooses from.

/// of(name of the dtype, type of its blocks) for every block type.
#define HEED_FOR_BLOCK_TYPES(of)                                                            \
  of(q4_0, BlockQ4_0) of(q4_1, BlockQ4_1) of(q5_0, BlockQ5_0) of(q5_1, BlockQ5_1)           \
      of(q8_0, BlockQ8_0) of(iq4_nl, BlockIQ4_NL) of(mxfp4, BlockMXFP4) of(q2_K, BlockQ2_K) \
          of(q3_K, BlockQ3_K) of(q4_K, BlockQ4_K) of(q5_K, BlockQ5_K) of(q6_K, BlockQ6_K)   \
              of(iq4_xs, BlockIQ4_XS)

/// The same for every dtype of real numbers; the elements of plain ones are those of numbers.h.
#define HEED_FOR_STORED_TYPES(of) \
  of(f32, float) of(bf16, Bf16) of(f16, F16) HEED_FOR_BLOCK_TYPES(of)

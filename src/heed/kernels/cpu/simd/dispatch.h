#pragma once

/// Defines cpu::name: calls the version of `name` for the best instruction set of this machine.
/// Follows the HWY_NAMESPACE part of a file, inside heed::kernels; the arguments are those of
/// HEED_KERNEL.
#define HEED_CPU_KERNEL(Result, name, parameters, arguments) \
  HWY_EXPORT(name);                                          \
  Result cpu::name parameters { return HWY_DYNAMIC_DISPATCH(name) arguments; }

/// Comes between the parameters and the body of a lambda that works on vectors.
#define HEED_LANES HWY_ATTR __attribute__((always_inline))

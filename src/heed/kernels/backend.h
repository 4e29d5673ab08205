#pragma once

namespace heed::kernels {

/// Who does the arithmetic: `cpu`, vectorised for what the machine has, or `reference`, plain
/// scalar loops that follow the equations and by which the fast ones are judged.
enum class Backend { cpu, reference };

Backend backend();
/// Chooses the backend for the whole process; not to be called while kernels are running.
void set_backend(Backend backend);

}  // namespace heed::kernels

/// Declares a kernel: cpu::name, reference::name, and name, which calls the chosen one.
/// HEED_KERNEL(void, softmax, (const Tensor& x, Tensor& y), (x, y))
#define HEED_KERNEL(Result, name, parameters, arguments)                                      \
  namespace cpu {                                                                             \
  Result name parameters;                                                                     \
  }                                                                                           \
  namespace reference {                                                                       \
  Result name parameters;                                                                     \
  }                                                                                           \
  inline Result name parameters {                                                             \
    return backend() == Backend::reference ? reference::name arguments : cpu::name arguments; \
  }

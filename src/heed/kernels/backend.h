#pragma once

namespace heed::kernels {

/// An implementation of the kernels. `cpu` is vectorised for the machine it runs on. `reference` is
/// plain scalar loops that follow the equations; the fast kernels are tested against it. `gpu` is
/// written for GPUs (gpu/code/operations.h); its tensors are in the memory of one.
enum class Backend { cpu, reference, gpu };

/// The one that kernels of this thread use: gpu where it works on a device (tensor/device.h), else
/// cpu, except in tests (testing.h).
Backend backend();

}  // namespace heed::kernels

#pragma once

namespace heed::kernels {

/// An implementation of the kernels. `cpu` is vectorised for the machine it runs on. `reference` is
/// plain scalar loops that follow the equations; the fast kernels are tested against it.
enum class Backend { cpu, reference };

Backend backend();
/// Sets the backend of the whole process. Must not be called while kernels run.
void set_backend(Backend backend);

}  // namespace heed::kernels

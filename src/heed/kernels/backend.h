#pragma once

namespace heed::kernels {

/// Who does the arithmetic. `cpu` is vectorised for the machine it runs on. `reference` is plain
/// scalar loops that follow the equations; the fast kernels are tested against it.
enum class Backend { cpu, reference };

Backend backend();
/// Chooses the backend of the whole process. Not to be called while kernels run.
void set_backend(Backend backend);

}  // namespace heed::kernels

#pragma once

namespace heed::kernels {

/// An implementation of the kernels. `cpu` is vectorised for the machine it runs on. `reference` is
/// plain scalar loops that follow the equations; the fast kernels are tested against it.
enum class Backend { cpu, reference };

/// The one that kernels use: cpu, except in tests (testing.h).
Backend backend();

}  // namespace heed::kernels

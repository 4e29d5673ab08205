#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "heed/kernels/cpu/simd/instructions.h"

/// What instructions.cc asks about the processor; machine_x86.cc or machine_arm.cc answers.
namespace heed::kernels::cpu::machine {

/// The values of HEED_CPU, the least machine first.
extern const std::span<const std::string_view> kNames;

/// Keeps Highway from using what that machine lacks.
void limit_highway(size_t machine);

/// Whether that machine has the instructions, which are not none.
bool allows(size_t machine, Instructions instructions);

/// Whether this processor has them, which are not none, and the system lets the process use their
/// registers.
bool processor_has(Instructions instructions);

}  // namespace heed::kernels::cpu::machine

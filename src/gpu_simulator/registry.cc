#include "gpu_simulator/registry.h"

#include <map>
#include <string>

namespace heed::gpu_simulator {
namespace {

std::map<std::string, Kernel, std::less<>>& kernels() {
  static std::map<std::string, Kernel, std::less<>> all;
  return all;
}

}  // namespace

RegisteredKernel::RegisteredKernel(const Kernel& kernel) {
  kernels().insert_or_assign(kernel.name, kernel);
}

const Kernel* find_kernel(std::string_view name) {
  const auto found = kernels().find(name);
  return found == kernels().end() ? nullptr : &found->second;
}

}  // namespace heed::gpu_simulator

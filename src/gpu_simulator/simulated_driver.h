#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "gpu_simulator/block.h"

namespace heed::gpu_simulator {

// CUresult.
constexpr int kInvalidValue = 1, kOutOfMemory = 2, kInvalidDevice = 101, kNotFound = 500,
              kLaunchFailed = 719;

/// The state of the driver. Work is done at once, errors of kernels are reported at the next
/// synchronisation, as a driver does.
///
/// HEED_SIMULATED_GPU="memory=64,seed=3,cores=ampere,capability=75,devices=2,fail=cuMemAlloc:700:2"
///   memory      MiB of all devices together (256)
///   seed        of the order in which threads run; 0: in turns
///   cores       whose tensor cores: hopper (default) or ampere
///   capability  of each device (90), or 75+90: of the first and of the others
///   devices     how many there are (1)
///   fail        NAME:RESULT:N the N-th call of a function returns the error RESULT; 0: each call.
///               After an error that loses a GPU (illegal addresses, ECC), every call for it does
/// cuInit() reads it again.
class SimulatedDriver {
 public:
  /// Reads HEED_SIMULATED_GPU. Forgets faults, unless a GPU is open.
  void start();
  void retain() { ++open_; }
  void release() { --open_; }

  int64_t setting(const std::string& name, int64_t otherwise) const;
  size_t memory() const { return static_cast<size_t>(setting("memory", 256)) << 20; }

  int capability(int device) const;

  /// What a call returns without being carried out: an error that HEED_SIMULATED_GPU asks for, or
  /// that has lost the GPU.
  int planned_error(std::string_view function);

  int allocate(uint64_t& pointer, size_t bytes);
  int free(uint64_t pointer);
  size_t used() const { return used_; }

  int allocate_pinned(void*& memory, size_t bytes);
  void free_pinned(void* memory);
  bool is_pinned(const void* memory, size_t bytes) const;

  void launch(Launch launch);

  /// The fault of a kernel. Every call fails after it, as on a GPU.
  const std::string& fault() const { return fault_; }

  std::mutex& calls() { return calls_mutex_; }

 private:
  std::map<std::string, std::string> settings_;
  std::map<uint64_t, size_t> sizes_;
  std::map<uintptr_t, size_t> pinned_;
  size_t used_ = 0;
  int calls_ = 0, open_ = 0, lost_ = 0;
  std::mutex mutex_, calls_mutex_;
  std::string fault_;
};

SimulatedDriver& simulated();

/// Carries out a call, one at a time, unless it is to fail.
template <typename Call>
int carry_out(std::string_view function, const Call& call) {
  const std::lock_guard lock(simulated().calls());
  if (const int error = simulated().planned_error(function)) return error;
  if (!simulated().fault().empty()) return kLaunchFailed;
  return call();
}

/// What is started on a stream is done at once.
struct Stream {};

/// A launch with a copy of its arguments, to be carried out later; none if it is not valid.
std::function<void()> prepared_launch(const Kernel* function, std::array<unsigned, 3> grid,
                                      std::array<unsigned, 3> block, unsigned shared_bytes,
                                      const void* arguments);

}  // namespace heed::gpu_simulator

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed::gpu {

/// The functions of NVIDIA's driver that heed uses, with the names and types of the CUDA driver API
/// (https://docs.nvidia.com/cuda/cuda-driver-api), so that no header of NVIDIA is needed. The
/// library is opened when it is first needed: heed runs where there is none.
struct Driver {
  using Result = int;  // CUresult; 0: success
  static constexpr Result kOutOfMemory = 2;
  using Device = int;
  using Pointer = uint64_t;  // CUdeviceptr
  struct Opaque;
  using Handle = Opaque*;
  /// CUDA_KERNEL_NODE_PARAMS_v1.
  struct KernelNode {
    Handle function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    void** arguments;
    void** extra;
  };
  /// CUDA_MEMCPY3D_v2.
  struct CopyNode {
    static constexpr int kHost = 1, kDevice = 2;  // CUmemorytype

    size_t from_x, from_y, from_z, from_lod;
    int from_type;
    const void* from_host;
    Pointer from_device;
    Handle from_array, from_reserved;
    size_t from_pitch, from_height;
    size_t to_x, to_y, to_z, to_lod;
    int to_type;
    void* to_host;
    Pointer to_device;
    Handle to_array, to_reserved;
    size_t to_pitch, to_height;
    size_t width, height, depth;
  };

  Result (*cuInit)(unsigned flags);
  Result (*cuDriverGetVersion)(int* version);
  Result (*cuGetErrorName)(Result result, const char** name);
  Result (*cuGetErrorString)(Result result, const char** text);
  Result (*cuDeviceGetCount)(int* count);
  Result (*cuDeviceGet)(Device* device, int ordinal);
  Result (*cuDeviceGetName)(char* name, int size, Device device);
  Result (*cuDeviceTotalMem)(size_t* bytes, Device device);
  Result (*cuDeviceGetAttribute)(int* value, int attribute, Device device);
  Result (*cuDevicePrimaryCtxRetain)(Handle* context, Device device);
  Result (*cuDevicePrimaryCtxRelease)(Device device);
  Result (*cuCtxSetCurrent)(Handle context);
  Result (*cuStreamCreate)(Handle* stream, unsigned flags);
  Result (*cuStreamDestroy)(Handle stream);
  Result (*cuStreamSynchronize)(Handle stream);
  Result (*cuGraphCreate)(Handle* graph, unsigned flags);
  Result (*cuGraphAddKernelNode)(Handle* node, Handle graph, const Handle* after, size_t count,
                                 const KernelNode* parameters);
  Result (*cuGraphAddMemcpyNode)(Handle* node, Handle graph, const Handle* after, size_t count,
                                 const CopyNode* parameters, Handle context);
  Result (*cuGraphInstantiateWithFlags)(Handle* executable, Handle graph, unsigned long long flags);
  Result (*cuGraphExecKernelNodeSetParams)(Handle executable, Handle node,
                                           const KernelNode* parameters);
  Result (*cuGraphExecMemcpyNodeSetParams)(Handle executable, Handle node,
                                           const CopyNode* parameters, Handle context);
  Result (*cuGraphLaunch)(Handle executable, Handle stream);
  Result (*cuGraphDestroy)(Handle graph);
  Result (*cuGraphExecDestroy)(Handle executable);
  Result (*cuEventCreate)(Handle* event, unsigned flags);
  Result (*cuEventDestroy)(Handle event);
  Result (*cuEventRecord)(Handle event, Handle stream);
  Result (*cuEventSynchronize)(Handle event);
  Result (*cuEventElapsedTime)(float* milliseconds, Handle start, Handle stop);
  Result (*cuMemGetInfo)(size_t* free, size_t* total);
  Result (*cuMemAlloc)(Pointer* pointer, size_t bytes);
  Result (*cuMemFree)(Pointer pointer);
  Result (*cuMemHostAlloc)(void** memory, size_t bytes, unsigned flags);
  Result (*cuMemFreeHost)(void* memory);
  Result (*cuMemcpyHtoDAsync)(Pointer to, const void* from, size_t bytes, Handle stream);
  Result (*cuMemcpyDtoHAsync)(void* to, Pointer from, size_t bytes, Handle stream);
  Result (*cuMemcpyDtoDAsync)(Pointer to, Pointer from, size_t bytes, Handle stream);
  Result (*cuMemsetD8Async)(Pointer to, unsigned char value, size_t bytes, Handle stream);
  Result (*cuModuleLoadData)(Handle* module, const void* image);
  Result (*cuModuleUnload)(Handle module);
  Result (*cuModuleGetFunction)(Handle* function, Handle module, const char* name);
  Result (*cuFuncSetAttribute)(Handle function, int attribute, int value);
  Result (*cuLaunchKernel)(Handle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                           unsigned block_x, unsigned block_y, unsigned block_z,
                           unsigned shared_bytes, Handle stream, void** arguments, void** extra);
};

/// Opens libcuda.so.1, or the library that the environment variable HEED_CUDA_DRIVER names: the
/// simulated GPU of the tests. Throws Error, which says what is missing, where there is none.
const Driver& driver();

/// The driver's words for a result: "out of memory (CUDA_ERROR_OUT_OF_MEMORY)".
std::string text_of(Driver::Result result);

/// Throws Error, which names what was being done, unless the result is success.
void check(Driver::Result result, std::string_view doing);

}  // namespace heed::gpu

# Kernels for GPUs, as nvcc compiles them: data that the driver loads (src/heed/gpu/device.h). heed links
# nothing of NVIDIA. Where there is no nvcc, the data is empty.
#
# The kernels are compiled for Ampere (8.0, which later ones run, too) and Hopper (9.0a); releases add what
# HEED_CUDA_ARCHITECTURES names.
set(HEED_CUDA_ARCHITECTURES 80 90a CACHE STRING "Compute capabilities that kernels are compiled for")
find_program(HEED_NVCC nvcc HINTS /usr/local/cuda/bin)

# heed_embed_kernels(<target> <namespace> <source>.cu)
# Adds `extern const std::span<const std::byte> kernels` of the namespace to the target.
function(heed_embed_kernels target namespace source)
  set(name ${CMAKE_CURRENT_BINARY_DIR}/embedded/${target}_kernels)
  get_filename_component(input ${source} ABSOLUTE)
  if(HEED_NVCC)
    set(options -std=c++20 -O3 --fmad=false -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR})
    foreach(architecture ${HEED_CUDA_ARCHITECTURES})
      list(APPEND options -gencode arch=compute_${architecture},code=sm_${architecture})
    endforeach()
    file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/embedded)
    add_custom_command(
      OUTPUT ${name}.fatbin
      COMMAND ${HEED_NVCC} ${options} -fatbin --compress-mode=size -MD -MF ${name}.d -o ${name}.fatbin ${input}
      DEPENDS ${input}
      DEPFILE ${name}.d
      COMMENT "Compiling ${source} for GPUs")
  else()
    file(WRITE ${name}.fatbin "")
  endif()
  file(CONFIGURE OUTPUT ${name}.cc @ONLY CONTENT [[
#include <cstddef>
#include <span>

asm(".section .rodata\n.balign 64\nheed_kernels_begin:\n.incbin \"@name@.fatbin\"\nheed_kernels_end:\n.previous\n");
extern "C" const std::byte heed_kernels_begin[], heed_kernels_end[];

namespace @namespace@ {
extern const std::span<const std::byte> kernels;
const std::span<const std::byte> kernels(heed_kernels_begin, heed_kernels_end);
}
]])
  set_source_files_properties(${name}.cc PROPERTIES OBJECT_DEPENDS ${name}.fatbin
                                                    SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${name}.cc)
endfunction()

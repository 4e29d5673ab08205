# Kernels for GPUs, as nvcc compiles them: data that the driver loads (src/heed/gpu/gpu.h). heed links
# nothing of NVIDIA. Where there is no nvcc, or -DHEED_NVCC=OFF is given, the data is empty.
#
# The kernels are compiled for Ampere (8.0, which later ones run, too) and Hopper (9.0a); releases add what
# HEED_CUDA_ARCHITECTURES names.
set(HEED_CUDA_ARCHITECTURES 80 90a CACHE STRING "Compute capabilities that kernels are compiled for")
find_program(HEED_NVCC nvcc HINTS /usr/local/cuda/bin)

# heed_embed_kernels(<target> <namespace> <source>.cu...)
# Adds `extern const std::vector<std::span<const std::byte>> kernel_images` of the namespace to the target:
# what nvcc makes of each source. Their files are the target's property HEED_KERNEL_IMAGES.
function(heed_embed_kernels target namespace)
  set(directory ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  file(MAKE_DIRECTORY ${directory})
  # Products and sums are fused where the source says so: the simulated GPU has the same bits.
  # Constexpr functions of headers that the host shares can be called.
  set(options -std=c++20 -O3 --fmad=false --expt-relaxed-constexpr -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR})
  foreach(architecture ${HEED_CUDA_ARCHITECTURES})
    list(APPEND options -gencode arch=compute_${architecture},code=sm_${architecture})
  endforeach()
  set(images)
  set(assembly)
  set(declarations)
  set(spans)
  foreach(source ${ARGN})
    get_filename_component(input ${source} ABSOLUTE)
    get_filename_component(name ${source} NAME_WE)
    set(image ${directory}/${target}_${name}.fatbin)
    if(HEED_NVCC)
      add_custom_command(
        OUTPUT ${image}
        COMMAND ${HEED_NVCC} ${options} -fatbin --compress-mode=size -MD -MF ${image}.d -o ${image} ${input}
        DEPENDS ${input}
        DEPFILE ${image}.d
        COMMENT "Compiling ${name}.cu for GPUs")
    else()
      file(WRITE ${image} "")
    endif()
    list(APPEND images ${image})
    set(symbol heed_${target}_${name})
    string(APPEND assembly
           "asm(\".section .rodata\\n.balign 64\\n${symbol}:\\n.incbin \\\"${image}\\\"\\n${symbol}_end:\\n.previous\\n\");\n")
    string(APPEND declarations "extern \"C\" const std::byte ${symbol}[], ${symbol}_end[];\n")
    string(APPEND spans "    {${symbol}, ${symbol}_end},\n")
  endforeach()
  set(embedded ${directory}/${target}_kernels.cc)
  file(CONFIGURE OUTPUT ${embedded} @ONLY CONTENT [[
#include <cstddef>
#include <span>
#include <vector>

@assembly@
@declarations@
namespace @namespace@ {
extern const std::vector<std::span<const std::byte>> kernel_images;
const std::vector<std::span<const std::byte>> kernel_images{
@spans@};
}
]])
  set_source_files_properties(${embedded} PROPERTIES OBJECT_DEPENDS "${images}"
                                                     SKIP_UNITY_BUILD_INCLUSION ON)
  target_sources(${target} PRIVATE ${embedded})
  set_target_properties(${target} PROPERTIES HEED_KERNEL_IMAGES "${images}")
endfunction()

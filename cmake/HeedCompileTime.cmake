# Most of what a small file takes to compile is reading the same headers and instantiating the same
# templates again. Two remedies:
# - precompiled headers (heed_precompile),
# - sources that are compiled several at a time (heed_unity, heed_vector_unity).
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON switches both off. The debug preset does, so that a file which
# relies on a header that it does not include is found.
#
# <nlohmann/json.hpp> has precompiled headers of its own: it makes the compiler instantiate its parser
# wherever it is seen, used or not, which takes 0.4 s each. Headers of heed include
# <nlohmann/json_fwd.hpp>.
set(HEED_STD_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstdio> <cstdlib>
                     <cstring> <filesystem> <functional> <limits> <map> <memory> <numeric>
                     <optional> <set> <span> <string> <string_view> <tuple> <unordered_map>
                     <unordered_set> <utility> <vector> <fmt/format.h>)
set(HEED_JSON_HEADERS <nlohmann/json.hpp> ${PROJECT_SOURCE_DIR}/src/heed/base/json_instance.h)

# heed_precompiled_headers(<target> [COLD] HEADERS <header>... LINK <libraries>)
# A target that holds nothing but the precompiled headers, for heed_precompile(). COLD is for targets that
# decide what is to be computed, and wait for what computes it. They are optimised less, which takes a
# quarter less time to compile. (CMake's -O3 stays for the rest: it unrolls the loops of kernels, which are
# three times slower with -O2, and makes tokenizers an eighth faster.)
function(heed_precompiled_headers target)
  cmake_parse_arguments(SET "COLD" "" "HEADERS;LINK" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Precompiled headers belong to a target with a source.\n")
  add_library(${target} OBJECT ${source})
  target_link_libraries(${target} PRIVATE heed_options ${SET_LINK})
  target_precompile_headers(${target} PRIVATE ${SET_HEADERS})
  if(SET_COLD)
    set(optimisation $<$<CONFIG:Release>:-O1>)
    target_compile_options(${target} PRIVATE ${optimisation})
    set_target_properties(${target} PROPERTIES HEED_OPTIMISATION ${optimisation})
  endif()
endfunction()

# heed_precompile(<target> <headers>)
# Gives the sources of a target the precompiled headers of another, compiled with the same options. GCC 12
# goes back to their level of optimisation after a #pragma GCC pop_options, so a target has that one, too.
function(heed_precompile target headers)
  target_precompile_headers(${target} REUSE_FROM ${headers})
  get_target_property(optimisation ${headers} HEED_OPTIMISATION)
  if(optimisation)
    target_compile_options(${target} PRIVATE ${optimisation})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    # GCC 12 sees overflows in std::string and std::vector that are not there (GCC bug 105329). In
    # system headers it keeps that to itself, in precompiled headers it does not.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()

# What one file declares may shadow what another one has: the debug preset looks at each file alone. A
# library of its own, since options of a target precede those of heed_options, which the last one wins.
add_library(heed_unity_options INTERFACE)
target_compile_options(heed_unity_options INTERFACE -Wno-shadow)

# heed_unity(<target> [<size>])
# Compiles the sources of a target in as few units as possible, of at most `size` sources (40 unless given).
# Most of the time goes to templates that the sources share. Names in unnamed namespaces must differ.
function(heed_unity target)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    return()
  endif()
  set(size 40)
  if(ARGC GREATER 1)
    set(size ${ARGV1})
  endif()
  get_target_property(sources ${target} SOURCES)
  list(LENGTH sources count)
  math(EXPR units "(${count} + ${size} - 1) / ${size}")
  math(EXPR size "(${count} + ${units} - 1) / ${units}")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  target_link_libraries(${target} PRIVATE heed_unity_options)
endfunction()

# heed_vector_unity(<target> <source>...)
# Compiles vector kernels four at a time. Highway includes the file that HWY_TARGET_INCLUDE names once
# for each instruction set, and reads its headers each time: here that file is a list of kernels. (In a
# unity build of CMake's, all kernels but the first would be compiled for the baseline alone.)
function(heed_vector_unity target)
  if(CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_sources(${target} PRIVATE ${ARGN})
    return()
  endif()
  set(kernels ${ARGN})
  while(kernels)
    list(SUBLIST kernels 0 4 some)
    list(REMOVE_ITEM kernels ${some})
    list(LENGTH kernels rest)
    set(unit ${CMAKE_CURRENT_BINARY_DIR}/vector_unity/${target}_${rest}.cc)
    set(name "#define HWY_TARGET_INCLUDE \"${unit}\"\n")
    list(TRANSFORM some REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
    list(JOIN includes "" includes)
    # Each kernel names itself; the next instruction set is to include the list again.
    file(CONFIGURE OUTPUT ${unit} @ONLY CONTENT
         "${name}#include <hwy/foreach_target.h>\n${includes}#undef HWY_TARGET_INCLUDE\n${name}")
    target_sources(${target} PRIVATE ${unit})
    set_source_files_properties(${unit} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endwhile()
endfunction()

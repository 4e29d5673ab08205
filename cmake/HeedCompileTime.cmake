# Most of what a small file takes to compile is reading the same headers and instantiating the same
# templates again. Two remedies:
# - precompiled headers (heed_precompile),
# - sources that are compiled several at a time (heed_unity).
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON switches both off. The debug preset does, so that a file which
# relies on a header that it does not include is found.
#
# <nlohmann/json.hpp> is not among them: it makes the compiler instantiate its parser in every file
# that sees it, used or not, which takes 0.4 s each. Headers of heed include <nlohmann/json_fwd.hpp>.
set(HEED_STD_HEADERS <algorithm> <array> <atomic> <chrono> <cmath> <cstdint> <cstdio> <cstdlib>
                     <cstring> <filesystem> <functional> <limits> <map> <memory> <numeric>
                     <optional> <set> <span> <string> <string_view> <tuple> <unordered_map>
                     <unordered_set> <utility> <vector> <fmt/format.h>)

# heed_precompiled_headers(<target> HEADERS <header>... LINK <libraries>)
# A target that holds nothing but the precompiled headers, for heed_precompile().
function(heed_precompiled_headers target)
  cmake_parse_arguments(SET "" "" "HEADERS;LINK" ${ARGN})
  set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Precompiled headers belong to a target with a source.\n")
  add_library(${target} OBJECT ${source})
  target_link_libraries(${target} PRIVATE heed_options ${SET_LINK})
  target_precompile_headers(${target} PRIVATE ${SET_HEADERS})
endfunction()

# heed_precompile(<target> <headers>)
# Gives the sources of a target the precompiled headers of another, compiled with the same options.
function(heed_precompile target headers)
  target_precompile_headers(${target} REUSE_FROM ${headers})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    # GCC 12 sees overflows in std::string and std::vector that are not there (GCC bug 105329). In
    # system headers it keeps that to itself, in precompiled headers it does not.
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()

# heed_unity(<target>)
# Compiles the sources of a target six at a time. Names in their unnamed namespaces must differ.
function(heed_unity target)
  if(NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  endif()
endfunction()

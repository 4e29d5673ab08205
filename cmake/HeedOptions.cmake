# Compiler settings shared by every target: warnings, which are errors unless heed is part of another
# project or HEED_WARNINGS_ARE_ERRORS is off (as in packages, whose compilers may know more warnings),
# the baseline x86-64-v2 (what is faster is chosen at run time), and HEED_SANITIZE, which switches a
# sanitizer on. Every object is position-independent and hides what is not HEED_EXPORT, so that
# program, shared and static library are made of the same objects.
set(HEED_SANITIZE "" CACHE STRING "Sanitizers to build with, such as address,undefined or thread")
option(HEED_WARNINGS_ARE_ERRORS "Let warnings fail the build" ${PROJECT_IS_TOP_LEVEL})

add_library(heed_options INTERFACE)
target_compile_options(heed_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                              -Wno-sign-conversion)
if(HEED_WARNINGS_ARE_ERRORS)
  target_compile_options(heed_options INTERFACE -Werror)
endif()
target_compile_options(heed_options INTERFACE -fPIC -fvisibility=hidden -fvisibility-inlines-hidden)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC collects garbage several times in a large file, and goes through all precompiled headers then,
  # which takes a tenth of the time. Without that it needs a fifth more memory.
  target_compile_options(heed_options INTERFACE "SHELL:--param ggc-min-expand=1000")
  # GCC 12 sees overlaps in std::string's operator+ that are not there (GCC bug 105651).
  target_compile_options(heed_options INTERFACE -Wno-restrict)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  target_compile_options(heed_options INTERFACE -march=x86-64-v2)
endif()
# Contracting a*b+c into one rounding differs between instruction sets; kernels ask for it by name.
target_compile_options(heed_options INTERFACE -ffp-contract=off)

if(HEED_SANITIZE)
  target_compile_options(heed_options INTERFACE -fsanitize=${HEED_SANITIZE} -fno-omit-frame-pointer
                                                -fno-sanitize-recover=all)
  if(HEED_SANITIZE MATCHES "undefined")
    # These checks take a fifth of the time to compile. AddressSanitizer stops at the access itself, though
    # not at a pointer out of range that is never used.
    target_compile_options(heed_options INTERFACE -fno-sanitize=null,object-size,pointer-overflow)
    if(HEED_READERS_TEST)
      # This check takes another quarter, and the preset asan has it.
      target_compile_options(heed_options INTERFACE -fno-sanitize=alignment)
      # Kernels read no files. The option must follow -fsanitize, and those of a target precede those that
      # it inherits.
      target_compile_options(heed_options INTERFACE
        $<$<STREQUAL:$<TARGET_PROPERTY:NAME>,heed_kernels>:-fno-sanitize=all>)
    endif()
  endif()
  target_link_options(heed_options INTERFACE -fsanitize=${HEED_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # What sanitizers insert makes GCC see uninitialised members that are not (GCC bug 105562).
    target_compile_options(heed_options INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()

# ccache stores files that use precompiled headers when it may ignore what cannot change them: macros
# that the headers do not use, and __DATE__ and __TIME__, which heed does not use.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

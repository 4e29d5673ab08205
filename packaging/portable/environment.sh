# Sourced: makes CMake, pkg-config and pip compile for any Linux with glibc 2.28. Sources and builds are below WORK,
# whose name does not get into what is compiled.
# shellcheck shell=bash
#
#   source environment.sh WORK      ZIG is the program zig
portable=$1/portable
mkdir -p "$portable/bin"
ln -sf "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/compiler" "$portable/bin/cc"
ln -sf cc "$portable/bin/c++"
export ZIG
export CC=$portable/bin/cc CXX=$portable/bin/c++
export CFLAGS=-ffile-prefix-map=$1=. CXXFLAGS=-ffile-prefix-map=$1=.
# Zig's run-time library has functions of its own in place of libm's, whose sines differ in the last bit. What else it
# has, divisions of 128 bits, comes from GCC's.
LDFLAGS="-rtlib=none $(gcc -print-libgcc-file-name)"
export LDFLAGS
export CMAKE_PREFIX_PATH=$portable/prefix PKG_CONFIG_LIBDIR=$portable/prefix/lib/pkgconfig
export CMAKE_GENERATOR=Ninja CCACHE_DISABLE=1 ZIG_GLOBAL_CACHE_DIR=$portable/zig-cache

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
export CMAKE_PREFIX_PATH=$portable/prefix PKG_CONFIG_LIBDIR=$portable/prefix/lib/pkgconfig
export CMAKE_GENERATOR=Ninja CCACHE_DISABLE=1 ZIG_GLOBAL_CACHE_DIR=$portable/zig-cache

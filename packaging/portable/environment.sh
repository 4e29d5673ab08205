# Sourced: makes CMake, pkg-config and pip compile for any Linux with glibc 2.28.
# shellcheck shell=bash
#
#   source environment.sh WORK      ZIG is the program zig
portable_work=$1
mkdir -p "$portable_work/bin"
ln -sf "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/compiler" "$portable_work/bin/cc"
ln -sf cc "$portable_work/bin/c++"
export ZIG
export CC=$portable_work/bin/cc CXX=$portable_work/bin/c++
export CFLAGS=-ffile-prefix-map=$portable_work=. CXXFLAGS=-ffile-prefix-map=$portable_work=.
export CMAKE_PREFIX_PATH=$portable_work/prefix PKG_CONFIG_LIBDIR=$portable_work/prefix/lib/pkgconfig
export CMAKE_GENERATOR=Ninja CCACHE_DISABLE=1 ZIG_GLOBAL_CACHE_DIR=$portable_work/zig-cache

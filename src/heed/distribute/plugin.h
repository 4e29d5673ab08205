#pragma once

#include <string>

#include "heed/base/error.h"
#include "heed/base/shared_library.h"

namespace heed::distribute {

/// A library of heed that depends on one that not every machine has, such as MPI.
struct PluginFile {
  std::string name;     // "heed-mpi-openmpi.so"
  std::string needed;   // why: "this process was started by a launcher of Open MPI"
  std::string remedy;   // if there is none: "install Debian's package heed-openmpi"
  std::string package;  // of Debian, with what the plug-in needs
};

/// The path of a plug-in: beside the program, or in heed's directory of libraries. Throws Error,
/// which says what to do, when there is none.
std::string plugin_path(const PluginFile& file);

/// Calls a plug-in's function `open`, which returns a table of functions whose first member is the
/// version of its interface. Throws Error as plugin_path() and SharedLibrary do, and on another
/// version.
template <typename Table>
const Table& open_plugin(const PluginFile& file, const char* open, int version) {
  const SharedLibrary library({plugin_path(file).c_str()}, "a run on several ranks", file.package);
  const Table* (*open_table)() = nullptr;
  library.find(open_table, open);
  const Table& table = *open_table();
  require(table.version == version,
          "{} is of another version of heed: it has interface {}, expected {}", file.name,
          table.version, version);
  return table;
}

}  // namespace heed::distribute

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "heed/distribute/transport.h"

namespace heed::distribute {

/// An MPI library whose launcher can have started this process.
struct MpiLibrary {
  std::string name;     // "Open MPI"
  std::string plugin;   // "heed-mpi-openmpi.so"
  std::string package;  // "heed-openmpi", which holds the plug-in and needs the library
  int processes = 1;    // that the launcher has started
  int rank = 0;         // of this process, as the launcher says
};

/// The library of the launcher (mpirun, srun) that started this process with others, by the
/// variables that it has set; none when it was started alone.
std::optional<MpiLibrary> mpi_of_launcher();

/// Opens the library's plug-in, beside the program or in heed's directory of libraries, and joins
/// the other ranks. Throws Error, which says what to install, when the plug-in or the library is
/// missing, and when not all processes can be joined.
std::unique_ptr<Transport> mpi_transport(const MpiLibrary& library);

}  // namespace heed::distribute

#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "heed/distribute/group.h"

namespace heed::distribute {

/// The ranks that a launcher (mpirun, srun) has started with this process, or without one this
/// process alone. Ranks that cannot take part join, too, and say why in require_no_error(), which
/// all ranks therefore call next. Throws as mpi_transport() and Messenger do. Ranks other than 0
/// call wait_for_report() before they throw what mpi_transport() throws, so that an error of all
/// ranks is reported once. Collective.
std::shared_ptr<Group> join_launched_ranks(std::function<bool()> stop_requested,
                                           Deadlines deadlines = {});

/// A hash of the file that holds this code: the program, or a library.
uint64_t hash_of_build();

}  // namespace heed::distribute

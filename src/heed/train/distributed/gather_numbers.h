#pragma once

#include <span>
#include <vector>

#include "heed/distribute/group.h"

namespace heed::train {

/// The numbers of all ranks, of which each gives any number, in the order of the ranks. Collective.
std::vector<double> gather_numbers(distribute::Group& group, std::vector<double> own);

}  // namespace heed::train

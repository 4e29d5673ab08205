#pragma once

#include <string>

#include "heed/distribute/group.h"

namespace heed::distribute {

/// Completes a list of texts on every rank: text i is that of rank owners[i]. All ranks give as
/// many texts and the same owners. Collective.
void complete_texts(Group& group, std::span<const int> owners, std::vector<std::string>& texts);

}  // namespace heed::distribute

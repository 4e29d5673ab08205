#pragma once

#include <string>

#include "heed/distribute/group.h"

namespace heed::distribute {

/// An all-gather of texts: text i of every rank becomes that of rank owners[i]. All ranks pass the
/// same owners and as many texts. Collective.
void all_gather_texts(Group& group, std::span<const int> owners, std::vector<std::string>& texts);

}  // namespace heed::distribute

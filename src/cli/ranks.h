#pragma once

#include <string>

namespace heed::cli {

/// From now on the library joins the ranks and sees to their errors.
void leave_ranks_to_library();

/// heed::agree_on_error(), unless the library has joined the ranks or is about to.
void agree_on_error(const std::string& message);

/// Whether this process prints what each rank would print alike, such as --help: rank 0 alone, by
/// what the launcher says.
bool prints_for_all();

/// Throws Error if a launcher has started this command on several ranks.
void require_one_rank(const std::string& command);

}  // namespace heed::cli

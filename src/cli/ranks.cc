#include "cli/ranks.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/ranks.h"

namespace heed::cli {
namespace {

bool left_to_library = false;  // which joins the ranks

}  // namespace

void leave_ranks_to_library() { left_to_library = true; }

void agree_on_error(const std::string& message) {
  if (!std::exchange(left_to_library, true)) heed::agree_on_error(message);
}

bool prints_for_all() {
  const auto launched = launched_rank();
  return !launched || launched->rank == 0;
}

void require_one_rank(const std::string& command) {
  require(!launched_rank(), "{} does not run on several ranks", command);
}

}  // namespace heed::cli

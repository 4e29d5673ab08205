#include "heed/base/output_file.h"

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/quote.h"

namespace heed {

void require_output_file(std::string_view what, const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  require(path.has_filename() && path_is_directory(folder), "{} is {}: the folder does not exist",
          what, quoted(path.string()));
  require(path_is_file(path) || !path_exists(path), "{} is {}, which is not a file", what,
          quoted(path.string()));
  require_writable(path);
}

}  // namespace heed

#include "cli/output_file.h"

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed::cli {

void require_output_file(std::string_view option, const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  require(path.has_filename() && path_is_directory(folder),
          "{} is \"{}\": there is no such folder to write into", option, path.string());
  require(path_is_file(path) || !path_exists(path), "{} is \"{}\", which is not a file", option,
          path.string());
  require_writable(path);
}

}  // namespace heed::cli

#include "heed/engine/new_files.h"

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/output_file.h"

namespace heed::engine {

namespace fs = std::filesystem;

void require_new(std::string_view what, const fs::path& target, bool directory) {
  std::error_code error;
  const fs::file_status status = fs::status(target, error);
  require(status.type() != fs::file_type::none, "{}: {}", target.string(), error.message());
  const bool empty = directory && fs::is_directory(status) && fs::is_empty(target, error);
  require(!fs::exists(status) || empty, "{} already exists: choose another name or remove it",
          target.string());
  if (!directory || target.empty()) return require_output_file(what, target);
  require_writable(empty ? target / "config.json" : target);
}

}  // namespace heed::engine

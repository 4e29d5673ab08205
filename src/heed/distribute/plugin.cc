#include "heed/distribute/plugin.h"

#include <array>
#include <filesystem>

namespace heed::distribute {

std::string plugin_path(const PluginFile& file) {
  std::error_code unknown;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", unknown).parent_path();
  // Beside the program, as in a build tree; where an installation that was moved has it, relative
  // to the program; where this build is installed.
  for (const auto& directory : std::array<std::filesystem::path, 3>{
           program, program / HEED_PLUGINS_FROM_PROGRAM, HEED_PLUGINS})
    if (const auto path = directory / file.name; std::filesystem::exists(path))
      return path.string();
  fail("{}, but heed's plug-in for it, {}, is neither beside the program nor in {}: {}",
       file.needed, file.name, HEED_PLUGINS, file.remedy);
}

}  // namespace heed::distribute

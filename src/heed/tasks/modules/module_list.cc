#include "heed/tasks/modules/module_list.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

/// The folder of a module. Throws Error unless it lies within the model's directory.
std::filesystem::path folder_of(const std::filesystem::path& model_path, const std::string& name,
                                const std::string& file) {
  const std::filesystem::path folder(name);
  bool inside = folder.is_relative();
  for (const std::filesystem::path& part : folder) inside = inside && part != "..";
  require(inside, "{}: the path of a module is {}, expected a path within the model directory",
          file, one_line(name));
  return model_path / folder;
}

}  // namespace

std::vector<ModuleEntry> read_module_list(const std::filesystem::path& model_path) {
  const std::string file = (model_path / kModulesFile).string();
  const nlohmann::json list = parse_json(read_file(file), file);
  require(list.is_array(), "{}: expected a list, found {}", file, excerpt(list));
  std::vector<ModuleEntry> modules;
  for (const nlohmann::json& json : list) {
    const auto type = get<std::string>(json, "type", file);
    const auto path = get_or<std::string>(json, "path", "", file);
    ModuleEntry module{type, type.substr(type.rfind('.') + 1),  // npos + 1 is 0
                       folder_of(model_path, path, file)};
    require(type.starts_with("sentence_transformers.") || type.starts_with("pylate."),
            "{}: module {} is {}, expected one of sentence-transformers", file, modules.size() + 1,
            one_line(type));
    require(!modules.empty() || module.kind == "Transformer" || module.kind == "MLMTransformer",
            "{}: module 1 is {}, expected sentence-transformers' Transformer", file,
            one_line(type));
    require(!modules.empty() || path.empty() || path == ".",
            "{}: the path of the Transformer is {}, expected the model directory itself", file,
            one_line(path));
    modules.push_back(std::move(module));
  }
  require(!modules.empty(), "{}: there are no modules, expected a Transformer first", file);
  return modules;
}

void refuse_module(const std::filesystem::path& model_path, const ModuleEntry& module) {
  fail("{}: the module {} ({}) is not one that heed applies", (model_path / kModulesFile).string(),
       one_line(module.kind), one_line(module.type));
}

}  // namespace heed::tasks

#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace heed::tasks {

/// A module that modules.json lists.
struct ModuleEntry {
  std::string type;  // "sentence_transformers.models.Pooling", for messages
  std::string kind;  // "Pooling"
  std::filesystem::path folder;
};

/// The modules, of which the first is the Transformer (or the older MLMTransformer) in the
/// directory itself. Throws Error, naming the file, on anything else than a list of modules of
/// sentence-transformers or PyLate whose folders lie in the directory.
std::vector<ModuleEntry> read_module_list(const std::filesystem::path& model_path);

/// Throws Error that names the module.
[[noreturn]] void refuse_module(const std::filesystem::path& model_path, const ModuleEntry& module);

}  // namespace heed::tasks

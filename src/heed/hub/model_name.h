#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed::hub {

/// A model of the hub.
struct ModelName {
  std::string repository;         // OWNER/NAME
  std::string revision = "main";  // branch, tag or commit
  std::string file;               // a GGUF file within the repository; empty: all of the model
};

/// The parts of OWNER/NAME[@REVISION][:FILE.gguf]. Nothing when `text` does not begin with
/// OWNER/NAME as the hub allows it, or when it is the path of a file (NAME ends with .gguf, .json,
/// .model, .spm or .safetensors). Throws Error when what follows OWNER/NAME could leave the
/// repository's folder ("..", an absolute path, control characters) or is not a GGUF file.
std::optional<ModelName> parse_model_name(std::string_view text);

/// Whether `path` is relative and stays within its folder: names of printable ASCII without
/// backslashes between slashes, none of them empty, "." or "..".
bool is_inner_path(std::string_view path);

}  // namespace heed::hub

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace heed::hub {

/// A model of the hub.
struct ModelName {
  std::string repository;         // OWNER/NAME, or NAME alone
  std::string revision = "main";  // branch, tag or commit
  std::string file;               // a GGUF file within the repository; empty: all of the model
};

/// What a name of a model may be, for messages.
inline constexpr const char* kModelNameForms =
    "a model is a directory, a GGUF file, or [OWNER/]NAME[@REVISION][:FILE.gguf] of the hub";

/// The parts of [OWNER/]NAME[@REVISION][:FILE.gguf]. Nothing when `text` does not begin with names
/// as the hub allows them, or when it is the path of a file (NAME ends with .gguf, .json, .model,
/// .spm or .safetensors; without an owner also .bin, .toml or .txt). Throws Error when what follows
/// NAME could leave the repository's folder ("..", an absolute path, control characters) or is not
/// a GGUF file.
std::optional<ModelName> parse_model_name(std::string_view text);

/// Whether `text` is OWNER/NAME or NAME as the hub allows them.
bool is_repository(std::string_view text);

/// Whether a repository's name has an owner.
bool has_owner(std::string_view repository);

/// Whether `path` is relative and stays within its folder: names of printable ASCII without
/// backslashes between slashes, none of them empty, "." or "..".
bool is_inner_path(std::string_view path);

}  // namespace heed::hub

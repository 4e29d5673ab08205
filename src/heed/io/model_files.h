#pragma once

#include <concepts>
#include <filesystem>
#include <memory>
#include <mutex>

#include "heed/io/gguf/gguf_file.h"

namespace heed::io {

/// What the path of a model names: a directory, or a GGUF file with the others of a split model.
/// All readers of a model share one: a GGUF file is opened once, by the first that asks for it.
class ModelFiles {
 public:
  /// Opens nothing. Any path converts to its files.
  template <std::convertible_to<std::filesystem::path> Path>
  ModelFiles(const Path& path) : state_(std::make_shared<State>(path)) {}

  const std::filesystem::path& path() const { return state_->path; }
  /// Whether the path is a file's, or would be by its name.
  bool is_gguf() const;
  /// Throws Error as GgufFile::open() does. Several threads may ask at once.
  const std::shared_ptr<const GgufFile>& gguf() const;

 private:
  struct State {
    explicit State(std::filesystem::path own_path) : path(std::move(own_path)) {}

    const std::filesystem::path path;
    std::once_flag once;
    std::shared_ptr<const GgufFile> gguf;
  };

  std::shared_ptr<State> state_;
};

}  // namespace heed::io

#include "heed/io/model_files.h"

namespace heed::io {

bool ModelFiles::is_gguf() const { return path().extension() == ".gguf" || path_is_file(path()); }

const std::shared_ptr<const GgufFile>& ModelFiles::gguf() const {
  std::call_once(state_->once, [this] { state_->gguf = GgufFile::open(path()); });
  return state_->gguf;
}

}  // namespace heed::io

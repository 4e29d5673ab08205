#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/io/safetensors.h"
#include "heed/io/stored_elements.h"

namespace heed::io {

struct TorchContents;
struct TorchTensor;

/// A file of torch.save (pytorch_model.bin, .pt, .ckpt): a dict of tensors, in torch's zip archive
/// or in the format before it. It may be the item "state_dict" or "model" of a dict whose other
/// items are plain values, as in checkpoints of PyTorch Lightning; these are not used. The file is
/// mapped and nothing of it is run: see Pickle.
class PyTorchFile : public TensorSource {
 public:
  /// Reads everything but the elements. Throws Error that names the file and the fault: a global
  /// or an instruction of the pickle that is not in heed's list, a damaged or compressed archive,
  /// tensors of more than four axes or beyond the end of their storages, a name that occurs twice,
  /// no tensors; and when what it describes needs more memory than a file of its size may.
  static std::shared_ptr<const PyTorchFile> open(const std::filesystem::path& path);

  std::string name() const override { return path_; }
  std::vector<std::string> names() const override;
  bool contains(const std::string& name) const override { return tensors_.contains(name); }
  /// As tensor_of(); tensors with strides of their own are copied.
  Tensor get(const std::string& name) const override;
  DType dtype(const std::string& name) const override;
  void release(const std::string& name) const override;

 private:
  struct Entry {
    StoredElements elements;
    std::string_view dtype;  // torch's name
    size_t end = 0;          // of the bytes from elements.begin on
  };

  PyTorchFile() = default;
  const Entry& entry(const std::string& name) const;
  /// What is known of a tensor from its description.
  Entry entry_of(TorchContents& contents, const TorchTensor& tensor, const std::string& name) const;

  std::string path_;
  std::shared_ptr<MappedFile> file_;
  std::map<std::string, Entry> tensors_;
};

}  // namespace heed::io

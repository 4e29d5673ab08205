#include "heed/io/pytorch/pytorch_file.h"

#include <limits>
#include <ranges>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/io/lfs_pointer.h"
#include "heed/io/mapped_pages.h"
#include "heed/io/pytorch/torch_contents.h"
#include "heed/io/pytorch/zip_archive.h"

namespace heed::io {
namespace {

/// The dict of tensors: the value, or an item of it.
PickleValue state_dict_of(const PickleObjects& objects, PickleValue value) {
  require(value.is(PickleKind::dict), "{}: holds {}, expected a dict of tensors", objects.file(),
          name_of(value.kind));
  for (const char* key : {"state_dict", "model"})
    if (const PickleValue* const item = objects.find(value, key);
        item && item->is(PickleKind::dict))
      return *item;
  return value;
}

/// The shape of a tensor. Throws Error for one of too many elements.
Shape shape_of(const TorchTensor& tensor, const std::string& where) {
  try {
    return Shape(std::span(tensor.sizes).first(static_cast<size_t>(tensor.rank)));
  } catch (const Error& error) {
    fail("{}: {}", where, error.what());
  }
}

/// The strides, unless the elements lie together.
std::optional<StoredElements::Strides> strides_of(const TorchTensor& tensor) {
  int64_t expected = 1;
  for (int axis = tensor.rank; axis-- > 0;) {
    const auto i = static_cast<size_t>(axis);
    if (tensor.sizes[i] != 1 && tensor.strides[i] != expected) return tensor.strides;
    expected *= tensor.sizes[i];
  }
  return std::nullopt;
}

/// One more than the greatest number of an element of the storage that a tensor with elements has.
/// Throws Error when the storage, of so many elements, ends before.
int64_t end_of(const TorchTensor& tensor, int64_t storage, const std::string& where) {
  int64_t last = tensor.offset;
  bool inside = last < storage;
  for (int axis = 0; inside && axis < tensor.rank; ++axis) {
    const auto i = static_cast<size_t>(axis);
    const int64_t steps = tensor.sizes[i] - 1, stride = tensor.strides[i];
    if (steps == 0 || stride == 0) continue;
    inside = steps <= (storage - 1 - last) / stride;
    if (inside) last += steps * stride;
  }
  require(inside, "{} reaches beyond the end of its storage of {} elements", where, storage);
  return last + 1;
}

/// Counts the memory of a tensor that has elements of its storage several times.
void charge_repeated(PickleObjects& objects, int64_t elements, size_t bytes) {
  const auto count = static_cast<size_t>(elements);
  constexpr size_t kMost = std::numeric_limits<size_t>::max();
  objects.charge(count > kMost / bytes ? kMost : count * bytes);
}

}  // namespace

std::shared_ptr<const PyTorchFile> PyTorchFile::open(const std::filesystem::path& path) {
  std::shared_ptr<PyTorchFile> file(new PyTorchFile);
  file->path_ = path.string();
  file->file_ = MappedFile::open(path);
  const bool zip = ZipArchive::is_zip(file->file_->bytes());
  refuse_lfs_pointer(file->file_->bytes(), path.string());
  require(zip || is_legacy_contents(file->file_->bytes()),
          "{}: is not a file of torch.save: it begins neither as a zip archive nor with the magic "
          "number of the format before",
          file->path_);
  TorchContents contents = zip ? read_zip_contents(file->file_, file->path_)
                               : read_legacy_contents(file->file_, file->path_);
  PickleObjects& objects = contents.objects;
  for (const auto& [key, value] : objects.dict(state_dict_of(objects, contents.value))) {
    if (!key.is(PickleKind::text) || !value.is(PickleKind::tensor)) continue;
    const std::string name(objects.text(key));
    const auto [place, added] = file->tensors_.try_emplace(name);
    require(added, "{}: {} occurs twice", file->path_, one_line(name));
    place->second = file->entry_of(contents, objects.tensor(value), name);
  }
  require(!file->tensors_.empty(), "{}: holds no tensors", file->path_);
  return file;
}

PyTorchFile::Entry PyTorchFile::entry_of(TorchContents& contents, const TorchTensor& tensor,
                                         const std::string& name) const {
  const std::string where = fmt::format("{}: {}", path_, one_line(name));
  const TorchStorage& storage = tensor.storage;
  const StoragePlace place = contents.place_of(storage.key);
  const size_t storage_bytes = storage.dtype->bytes;
  require(static_cast<size_t>(storage.elements) <= (place.end - place.begin) / storage_bytes,
          "{}: its storage {} should have {} elements of {}, but has {} bytes", where,
          quoted(storage.key), storage.elements, storage.dtype->name, place.end - place.begin);
  const size_t bytes = tensor.dtype->bytes;
  const auto elements =
      static_cast<int64_t>(static_cast<size_t>(storage.count) * storage_bytes / bytes);
  Entry entry{.elements = {std::string(tensor.dtype->stored), shape_of(tensor, where)},
              .dtype = tensor.dtype->name};
  entry.elements.begin = place.begin + static_cast<size_t>(storage.first) * storage_bytes;
  entry.end = entry.elements.begin;
  const int64_t own = entry.elements.shape.elements();
  if (own == 0) return entry;
  const int64_t end = end_of(tensor, elements, where);
  if (own > elements) charge_repeated(contents.objects, own, bytes);
  entry.end += static_cast<size_t>(end) * bytes;
  entry.elements.begin += static_cast<size_t>(tensor.offset) * bytes;
  entry.elements.strides = strides_of(tensor);
  return entry;
}

std::vector<std::string> PyTorchFile::names() const {
  const auto keys = std::views::keys(tensors_);
  return {keys.begin(), keys.end()};
}

const PyTorchFile::Entry& PyTorchFile::entry(const std::string& tensor) const {
  const auto found = tensors_.find(tensor);
  require(found != tensors_.end(), "{}: there is no tensor {}", path_, one_line(tensor));
  return found->second;
}

Tensor PyTorchFile::get(const std::string& tensor) const {
  const Entry& stored = entry(tensor);
  return tensor_of(file_, stored.elements, fmt::format("{}: {}", path_, one_line(tensor)),
                   stored.dtype);
}

DType PyTorchFile::dtype(const std::string& tensor) const {
  const auto dtype = dtype_of_stored(entry(tensor).elements.dtype);
  return dtype ? *dtype : get(tensor).dtype();  // which throws
}

void PyTorchFile::release(const std::string& tensor) const {
  const Entry& stored = entry(tensor);
  release_pages(file_->bytes(), stored.elements.begin, stored.end);
}

}  // namespace heed::io

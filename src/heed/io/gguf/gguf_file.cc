#include "heed/io/gguf/gguf_file.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/rounding.h"
#include "heed/io/gguf/cursor.h"
#include "heed/io/gguf/split.h"
#include "heed/io/gguf/types.h"
#include "heed/io/mapped_pages.h"

namespace heed::io {
namespace {

constexpr int64_t kDefaultAlignment = 32, kMinAlignment = 8;

/// Reads a tensor's shape; the file lists the innermost axis first.
Shape read_shape(GgufCursor& cursor, const std::string& where) {
  const auto axes = cursor.number<uint32_t>(where);
  require(axes <= Shape::kMaxRank, "{} has {} axes, expected at most {}", where, axes,
          Shape::kMaxRank);
  std::vector<int64_t> sizes;
  for (uint32_t axis = 0; axis < axes; ++axis) {
    const auto size = cursor.number<uint64_t>(where);
    require(std::in_range<int64_t>(size), "{}: an axis has size {}", where, size);
    sizes.insert(sizes.begin(), static_cast<int64_t>(size));
  }
  try {
    return Shape(sizes);
  } catch (const Error& error) {
    fail("{}: {}", where, error.what());
  }
}

}  // namespace

std::shared_ptr<GgufFile> GgufFile::open_one(const std::filesystem::path& path) {
  std::shared_ptr<GgufFile> file(new GgufFile);
  file->path_ = path;
  file->file_ = MappedFile::open(path);
  file->read_header();
  return file;
}

std::shared_ptr<const GgufFile> GgufFile::open(const std::filesystem::path& path) {
  std::shared_ptr<GgufFile> file = open_one(path);
  file->open_others();
  return file;
}

void GgufFile::open_others() {
  const std::vector<std::filesystem::path> paths = other_split_files(path_, metadata_);
  if (paths.empty()) return;
  size_t tensors = entries_.size();
  for (const std::filesystem::path& path : paths) {
    std::shared_ptr<const GgufFile> other = open_one(path);
    check_split_file(path, other->metadata_, static_cast<int64_t>(others_.size()) + 1,
                     static_cast<int64_t>(paths.size()) + 1);
    for (const auto& [tensor, entry] : other->entries_)
      require(!contains(tensor), "{}: {} is in an earlier file, too", other->name(),
              one_line(tensor));
    tensors += other->entries_.size();
    others_.push_back(std::move(other));
  }
  const auto wanted = metadata_.get_or<int64_t>("split.tensors.count", -1);
  require(wanted < 0 || wanted == static_cast<int64_t>(tensors),
          "{}: its {} files have {} tensors, expected {}", name(), paths.size() + 1, tensors,
          wanted);
}

const GgufFile* GgufFile::find_file(const std::string& tensor) const {
  if (entries_.contains(tensor)) return this;
  const auto found = std::ranges::find_if(
      others_, [&](const auto& other) { return other->entries_.contains(tensor); });
  return found == others_.end() ? nullptr : found->get();
}

const GgufFile& GgufFile::file_of(const std::string& tensor) const {
  const GgufFile* const file = find_file(tensor);
  require(file != nullptr, "{}: there is no tensor {}", name(), one_line(tensor));
  return *file;
}

void GgufFile::read_header() {
  GgufCursor cursor(file_->bytes(), name());
  const uint64_t tensors = read_gguf_start(cursor);
  metadata_.file_name_ = name();
  metadata_.file_ = file_;
  const size_t begin = cursor.position();
  metadata_.read(cursor);
  metadata_bytes_ = file_->bytes().subspan(begin, cursor.position() - begin);
  for (uint64_t i = 0; i < tensors; ++i) {
    const std::string tensor(cursor.text("the name of a tensor"));
    require(entries_.emplace(tensor, read_entry(cursor, tensor)).second, "{}: {} occurs twice",
            name(), one_line(tensor));
  }
  const auto alignment = metadata_.get_or<int64_t>("general.alignment", kDefaultAlignment);
  require(alignment >= kMinAlignment && alignment <= UINT32_MAX &&
              std::has_single_bit(static_cast<uint64_t>(alignment)),
          "{}: general.alignment is {}, expected a power of two of at least {}", name(), alignment,
          kMinAlignment);
  alignment_ = static_cast<size_t>(alignment);
  const size_t data_begin = round_up(cursor.position(), alignment_);
  for (auto& [tensor, entry] : entries_) {
    require(entry.begin % alignment_ == 0,
            "{}: {} begins at byte {} of the data, expected a multiple of {}", name(),
            one_line(tensor), entry.begin, alignment_);
    set_file_range(entry, tensor, data_begin);
  }
  check_overlaps();
}

/// `begin` is the offset into the data: the file position of the data is not known yet.
GgufFile::Entry GgufFile::read_entry(GgufCursor& cursor, const std::string& tensor) const {
  const std::string where = fmt::format("{}: {}", name(), one_line(tensor));
  Entry entry;
  entry.shape = read_shape(cursor, where);
  const auto number = cursor.number<uint32_t>(where);
  const GgufTensorType* type = find_gguf_type(number);
  require(type, "{} has the unknown type {}", where, number);
  const int64_t cols = entry.shape.rank() ? entry.shape[-1] : 1;
  require(cols % type->block_elements == 0,
          "{} is {} {}, expected rows of whole blocks of {} elements", where, type->name,
          entry.shape.text(), type->block_elements);
  entry.type = type->name;
  entry.begin = cursor.number<uint64_t>(where);
  return entry;
}

/// Turns the offset into the data into a range of bytes of the file.
void GgufFile::set_file_range(Entry& entry, const std::string& tensor, size_t data_begin) const {
  const GgufTensorType& type = gguf_type_by_name(entry.type);
  // Cannot overflow: Shape allows fewer than 2^60 elements, each of at most 8 bytes.
  const uint64_t bytes = static_cast<uint64_t>(entry.shape.elements() / type.block_elements) *
                         static_cast<uint64_t>(type.block_bytes);
  const size_t size = file_->bytes().size(), room = size - std::min(data_begin, size);
  require(entry.begin <= room && bytes <= room - entry.begin,
          "{}: {} {} {} needs {} bytes from byte {} of the data, which has {} bytes", name(),
          one_line(tensor), entry.type, entry.shape.text(), bytes, entry.begin, room);
  entry.begin = bytes ? data_begin + entry.begin : 0;
  entry.end = entry.begin + bytes;
}

void GgufFile::check_overlaps() const {
  using Range = std::tuple<size_t, size_t, std::string_view>;
  std::vector<Range> ranges;
  for (const auto& [tensor, entry] : entries_)
    if (entry.begin < entry.end) ranges.emplace_back(entry.begin, entry.end, tensor);
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    require(std::get<1>(ranges[i - 1]) <= std::get<0>(ranges[i]), "{}: {} and {} overlap", name(),
            one_line(std::get<2>(ranges[i - 1])), one_line(std::get<2>(ranges[i])));
}

std::vector<std::string> GgufFile::names() const {
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& [tensor, entry] : entries_) names.push_back(tensor);
  for (const auto& other : others_)
    for (const auto& [tensor, entry] : other->entries_) names.push_back(tensor);
  return names;
}

const GgufFile::Entry& GgufFile::entry(const std::string& tensor) const {
  return file_of(tensor).entries_.at(tensor);
}

Tensor GgufFile::view(const std::string& tensor) const {
  const GgufFile& file = file_of(tensor);
  if (&file != this) return file.view(tensor);
  const Entry& stored = entry(tensor);
  const std::optional<DType> dtype = gguf_type_by_name(stored.type).dtype;
  require(dtype.has_value(), "{}: {} is {}, which heed does not support (supported: {})", name(),
          one_line(tensor), stored.type, supported_gguf_types());
  return Tensor::view(stored.shape, *dtype, {file_, file_->bytes().data() + stored.begin});
}

Tensor GgufFile::get(const std::string& tensor) const {
  const Tensor stored = view(tensor);
  if (stored.shape().rank() >= 2) return stored;
  const Tensor copy = stored.clone();
  release(tensor);  // otherwise the large page around it would stay in memory
  return copy;
}

void GgufFile::release_all(std::span<const std::string> tensors) const {
  for (const std::string& tensor : tensors) file_of(tensor);  // there are no others
  release_own(tensors);
  for (const auto& other : others_) other->release_own(tensors);
}

/// Releases those tensors that are in this file.
void GgufFile::release_own(std::span<const std::string> tensors) const {
  constexpr size_t kMaxGap = size_t{2} << 20;  // gaps up to this size are released, too
  std::vector<std::pair<size_t, size_t>> ranges;
  for (const std::string& tensor : tensors) {
    const auto stored = entries_.find(tensor);
    if (stored != entries_.end() && stored->second.begin < stored->second.end)
      ranges.emplace_back(stored->second.begin, stored->second.end);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t first = 0, next = 0; first < ranges.size(); first = next) {
    for (++next; next < ranges.size() && ranges[next].first <= ranges[next - 1].second + kMaxGap;)
      ++next;
    release_pages(file_->bytes(), ranges[first].first, ranges[next - 1].second);
  }
}

}  // namespace heed::io

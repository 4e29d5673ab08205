#include "heed/io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <ranges>
#include <string_view>
#include <tuple>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/reader_limits.h"
#include "heed/io/lfs_pointer.h"
#include "heed/io/mapped_pages.h"
#include "heed/io/stored_elements.h"

namespace heed::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr size_t kLengthBytes = 8;

struct StoredDType {
  const char* name;
  size_t bytes;
};
/// The format's dtypes that occupy whole bytes. Those that get() cannot convert may still occur in
/// a file.
constexpr std::array<StoredDType, 17> kStoredDTypes{{{"F32", 4},
                                                     {"BF16", 2},
                                                     {"F16", 2},
                                                     {"F64", 8},
                                                     {"I32", 4},
                                                     {"I64", 8},
                                                     {"BOOL", 1},
                                                     {"U8", 1},
                                                     {"I8", 1},
                                                     {"F8_E5M2", 1},
                                                     {"F8_E4M3", 1},
                                                     {"F8_E8M0", 1},
                                                     {"I16", 2},
                                                     {"U16", 2},
                                                     {"U32", 4},
                                                     {"U64", 8},
                                                     {"C64", 8}}};

const StoredDType* find_stored_dtype(const std::string& name) {
  for (const StoredDType& dtype : kStoredDTypes)
    if (name == dtype.name) return &dtype;
  return nullptr;
}

/// The block dtype with that name; nullopt for any other name.
std::optional<DType> block_dtype(const std::string& name) {
  const std::optional<DType> dtype = dtype_named(name);
  return dtype && !is_plain(*dtype) ? dtype : std::nullopt;
}

Shape shape_from(const nlohmann::json& json, const std::string& where) {
  if (!json.is_array() || json.size() > Shape::kMaxRank)
    fail("{}: shape is {}, expected up to {} sizes", where, excerpt(json), Shape::kMaxRank);
  std::vector<int64_t> sizes;
  for (const nlohmann::json& size : json)
    sizes.push_back(integer_of(size, "a size", where, 0, std::numeric_limits<int64_t>::max()));
  try {
    return Shape(sizes);
  } catch (const Error& error) {
    fail("{}: {}", where, error.what());
  }
}

std::pair<size_t, size_t> offsets_from(const nlohmann::json& json, const std::string& where) {
  require(json.is_array() && json.size() == 2, "{}: data_offsets is {}, expected two numbers",
          where, excerpt(json));
  const auto offset = [&](size_t index) {
    return static_cast<size_t>(
        integer_of(json[index], "an offset", where, 0, std::numeric_limits<int64_t>::max()));
  };
  return {offset(0), offset(1)};
}

}  // namespace

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  std::shared_ptr<SafetensorsFile> file(new SafetensorsFile);
  file->path_ = path;
  file->file_ = MappedFile::open(path);
  file->read_header();
  return file;
}

void SafetensorsFile::read_header() {
  const auto bytes = file_->bytes();
  refuse_lfs_pointer(bytes, name());
  require(bytes.size() >= kLengthBytes, "{}: has {} bytes, too few for a safetensors file", name(),
          bytes.size());
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const uint64_t remaining = bytes.size() - kLengthBytes;
  require(length <= remaining, "{}: its header should have {} bytes, but only {} follow", name(),
          length, remaining);
  require(length <= limits::kMaxSafetensorsHeader,
          "{}: its header has {} bytes, expected at most {}", name(), length,
          limits::kMaxSafetensorsHeader);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  const nlohmann::json header = parse_json(text, name());
  if (!header.is_object())
    fail("{}: its header is {}, expected an object", name(), excerpt(header));
  require_unique_members(text, name());

  data_begin_ = kLengthBytes + length;
  for (const auto& [key, value] : header.items()) {
    if (key != "__metadata__") {
      entries_[key] = read_entry(key, value);
      continue;
    }
    const std::string where = name() + ": __metadata__";
    if (!value.is_object()) fail("{} is {}, expected an object", where, excerpt(value));
    for (const auto& [field, unused] : value.items())
      metadata_[field] = heed::get<std::string>(value, field, where);
  }
  check_layout();
}

SafetensorsFile::Entry SafetensorsFile::read_entry(const std::string& tensor,
                                                   const nlohmann::json& json) const {
  const std::string where = name() + ": " + one_line(tensor);
  Entry entry;
  entry.dtype = heed::get<std::string>(json, "dtype", where);
  const StoredDType* dtype = find_stored_dtype(entry.dtype);
  require(dtype, "{}: dtype {} is not known", where, one_line(entry.dtype));
  require(json.contains("shape") && json.contains("data_offsets"),
          "{}: shape or data_offsets is missing", where);
  entry.shape = shape_from(json["shape"], where);
  const auto [begin, end] = offsets_from(json["data_offsets"], where);
  const size_t size = file_->bytes().size() - data_begin_;
  require(begin <= end && end <= size, "{}: data_offsets are [{}, {}], but the data has {} bytes",
          where, begin, end, size);
  const auto expected = static_cast<size_t>(entry.shape.elements()) * dtype->bytes;
  require(end - begin == expected, "{}: {} {} needs {} bytes, data_offsets span {}", where,
          entry.dtype, entry.shape.text(), expected, end - begin);
  entry.begin = data_begin_ + begin;
  entry.end = data_begin_ + end;
  return entry;
}

/// Every byte of the data must belong to exactly one tensor.
void SafetensorsFile::check_layout() const {
  using Range = std::tuple<size_t, size_t, std::string_view>;
  std::vector<Range> ranges;
  for (const auto& [key, entry] : entries_) ranges.emplace_back(entry.begin, entry.end, key);
  std::sort(ranges.begin(), ranges.end());
  size_t expected = data_begin_;
  for (const auto& [begin, end, key] : ranges) {
    require(
        begin == expected, "{}: {} begins at byte {} of the data, {} {}", name(), one_line(key),
        begin - data_begin_,
        begin < expected ? "but the tensor before it ends at" : "but the data before it ends at",
        expected - data_begin_);
    expected = end;
  }
  require(expected == file_->bytes().size(), "{}: the last {} bytes belong to no tensor", name(),
          file_->bytes().size() - expected);
}

Tensor SafetensorsFile::get_blocks(const std::string& tensor, const Entry& stored,
                                   DType dtype) const {
  const Shape& bytes = stored.shape;
  const int64_t row_bytes = bytes.rank() ? bytes[-1] : 1;
  require(row_bytes % block_bytes(dtype) == 0,
          "{}: {} has rows of {} bytes, expected a multiple of a {} block ({} bytes)", name(),
          one_line(tensor), row_bytes, name_of(dtype), block_bytes(dtype));
  std::vector<int64_t> sizes;
  for (int axis = 0; axis < bytes.rank(); ++axis) sizes.push_back(bytes[axis]);
  sizes.back() = row_bytes / block_bytes(dtype) * block_elements(dtype);
  const std::shared_ptr<std::byte> data(file_, file_->bytes().data() + stored.begin);
  if (stored.begin % alignof(float16) == 0) return Tensor::view(Shape(sizes), dtype, data);
  Tensor copy = Tensor::empty(Shape(sizes), dtype);
  std::memcpy(copy.raw(), data.get(), static_cast<size_t>(copy.bytes()));
  return copy;
}

std::vector<std::string> SafetensorsFile::names() const {
  const auto keys = std::views::keys(entries_);
  return {keys.begin(), keys.end()};
}

const SafetensorsFile::Entry& SafetensorsFile::entry(const std::string& tensor) const {
  const auto found = entries_.find(tensor);
  require(found != entries_.end(), "{}: there is no tensor {}", name(), one_line(tensor));
  return found->second;
}

Tensor SafetensorsFile::get(const std::string& tensor) const {
  const Entry& stored = entry(tensor);
  if (const auto blocks = metadata_.find(tensor); stored.dtype == "U8" && blocks != metadata_.end())
    if (const auto dtype = block_dtype(blocks->second)) return get_blocks(tensor, stored, *dtype);
  return tensor_of(file_, {stored.dtype, stored.shape, stored.begin},
                   fmt::format("{}: {}", name(), one_line(tensor)), stored.dtype);
}

TensorSource::Bytes TensorSource::get_bytes(const std::string& tensor) const {
  fail("{}: {} holds no bytes", name(), one_line(tensor));
}

TensorSource::Bytes SafetensorsFile::get_bytes(const std::string& tensor) const {
  const Entry& stored = entry(tensor);
  require(stored.dtype == "U8", "{}: {} is {}, expected U8", name(), one_line(tensor),
          stored.dtype);
  return {stored.shape, file_->bytes().subspan(stored.begin, stored.end - stored.begin)};
}

void SafetensorsFile::release(const std::string& tensor) const {
  const Entry& stored = entry(tensor);
  release_pages(file_->bytes(), stored.begin, stored.end);
}

}  // namespace heed::io

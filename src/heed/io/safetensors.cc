#include "heed/io/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/io/mapped_pages.h"

namespace heed::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr size_t kLengthBytes = 8;
constexpr size_t kLargestHeader = size_t{100} << 20;

struct ElementKind {
  const char* name;
  size_t bytes;
};
/// All of the format that fill whole bytes; those of the second row can be skipped, not read.
constexpr std::array<ElementKind, 17> kKinds{{{"F32", 4},
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

const ElementKind* kind_named(const std::string& name) {
  for (const ElementKind& kind : kKinds)
    if (name == kind.name) return &kind;
  return nullptr;
}

/// Throws Error when two tensors bear one name; the parser itself keeps the last of them.
void check_names(std::string_view header, const std::string& file) {
  using Json = nlohmann::json;
  std::unordered_set<std::string> names;
  const auto look = [&](int depth, Json::parse_event_t event, Json& name) {
    if (event != Json::parse_event_t::key || depth != 1) return true;
    require(names.insert(name.get<std::string>()).second, "{}: {} occurs twice", file,
            one_line(name.get<std::string>()));
    return true;
  };
  const Json whole = Json::parse(header, look);
}

template <typename From, typename To, typename Convert>
Tensor converted(const std::byte* from, const Shape& shape, Convert&& convert) {
  Tensor tensor = Tensor::empty(shape, dtype_of<To>);
  To* to = tensor.data<To>();
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    From value;  // the file aligns nothing
    std::memcpy(&value, from + static_cast<size_t>(i) * sizeof(From), sizeof(From));
    to[i] = convert(value);
  }
  return tensor;
}

/// A matrix where it lies; of a vector, and where no T may lie, a copy, for whose sake nothing of
/// the file stays in memory.
template <typename T>
Tensor view_or_copy(const std::shared_ptr<MappedFile>& file, const SafetensorsFile::Entry& stored) {
  const std::shared_ptr<std::byte> owner(file, file->bytes().data() + stored.begin);
  const bool aligned = reinterpret_cast<uintptr_t>(owner.get()) % alignof(T) == 0;
  if (aligned && stored.shape.rank() >= 2) return Tensor::view(stored.shape, dtype_of<T>, owner);
  const Tensor copy = converted<T, T>(owner.get(), stored.shape, [](T value) { return value; });
  release_pages(file->bytes(), stored.begin, stored.end);
  return copy;
}

/// The dtype of blocks of that name; none of any other name.
std::optional<DType> block_dtype(const std::string& name) {
  for (const DType dtype : {DType::q4_0, DType::q4_1, DType::q8_0, DType::q6_K})
    if (name == name_of(dtype)) return dtype;
  return std::nullopt;
}

Shape shape_from(const nlohmann::json& json, const std::string& where) {
  require(json.is_array() && json.size() <= Shape::kMaxRank,
          "{}: shape is {}, expected up to {} sizes", where, excerpt(json), Shape::kMaxRank);
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
  require(bytes.size() >= kLengthBytes, "{}: has {} bytes, too few for a safetensors file", name(),
          bytes.size());
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  const uint64_t room = bytes.size() - kLengthBytes;
  require(length <= room, "{}: its header should have {} bytes, but only {} follow", name(), length,
          room);
  require(length <= kLargestHeader, "{}: its header has {} bytes, at most {} are expected", name(),
          length, kLargestHeader);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  const nlohmann::json header = parse_json(text, name());
  require(header.is_object(), "{}: its header is {}, expected an object", name(), excerpt(header));
  check_names(text, name());

  data_begin_ = kLengthBytes + length;
  for (const auto& [key, value] : header.items()) {
    if (key != "__metadata__") {
      entries_[key] = read_entry(key, value);
      continue;
    }
    const std::string where = name() + ": __metadata__";
    require(value.is_object(), "{} is {}, expected an object", where, excerpt(value));
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
  const ElementKind* kind = kind_named(entry.dtype);
  require(kind, "{}: dtype {} is not known", where, one_line(entry.dtype));
  require(json.contains("shape") && json.contains("data_offsets"),
          "{}: shape or data_offsets is missing", where);
  entry.shape = shape_from(json["shape"], where);
  const auto [begin, end] = offsets_from(json["data_offsets"], where);
  const size_t room = file_->bytes().size() - data_begin_;
  require(begin <= end && end <= room, "{}: data_offsets are [{}, {}], the file holds {} bytes",
          where, begin, end, room);
  const auto expected = static_cast<size_t>(entry.shape.elements()) * kind->bytes;
  require(end - begin == expected, "{}: {} {} needs {} bytes, data_offsets give it {}", where,
          entry.dtype, entry.shape.text(), expected, end - begin);
  entry.begin = data_begin_ + begin;
  entry.end = data_begin_ + end;
  return entry;
}

/// The tensors must fill the data from beginning to end, each byte belonging to one.
void SafetensorsFile::check_layout() const {
  using Place = std::tuple<size_t, size_t, std::string_view>;
  std::vector<Place> places;
  for (const auto& [key, entry] : entries_) places.emplace_back(entry.begin, entry.end, key);
  std::sort(places.begin(), places.end());
  size_t expected = data_begin_;
  for (const auto& [begin, end, key] : places) {
    require(begin == expected, "{}: {} begins at byte {} of the data, {} {}", name(), one_line(key),
            begin - data_begin_,
            begin < expected ? "but another tensor goes on to" : "leaving a gap from",
            expected - data_begin_);
    expected = end;
  }
  require(expected == file_->bytes().size(), "{}: {} bytes at its end belong to no tensor", name(),
          file_->bytes().size() - expected);
}

Tensor SafetensorsFile::get_blocks(const std::string& tensor, const Entry& stored,
                                   DType dtype) const {
  const Shape& bytes = stored.shape;
  const int64_t row_bytes = bytes.rank() ? bytes[-1] : 1;
  require(row_bytes % block_bytes(dtype) == 0,
          "{}: {} has rows of {} bytes, expected whole blocks of {} ({} bytes)", name(),
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
  std::vector<std::string> names;
  names.reserve(entries_.size());
  for (const auto& [key, entry] : entries_) names.push_back(key);
  return names;
}

const SafetensorsFile::Entry& SafetensorsFile::entry(const std::string& tensor) const {
  const auto found = entries_.find(tensor);
  require(found != entries_.end(), "{}: there is no tensor {}", name(), tensor);
  return found->second;
}

Tensor SafetensorsFile::get(const std::string& tensor) const {
  const Entry& stored = entry(tensor);
  if (stored.dtype == "F32") return view_or_copy<float>(file_, stored);
  if (stored.dtype == "BF16") return view_or_copy<bfloat16>(file_, stored);
  if (stored.dtype == "F16") return view_or_copy<float16>(file_, stored);
  if (stored.dtype == "I32") return view_or_copy<int32_t>(file_, stored);
  if (const auto blocks = metadata_.find(tensor); stored.dtype == "U8" && blocks != metadata_.end())
    if (const auto dtype = block_dtype(blocks->second)) return get_blocks(tensor, stored, *dtype);
  const std::byte* data = file_->bytes().data() + stored.begin;
  if (stored.dtype == "F64")
    return converted<double, float>(data, stored.shape,
                                    [](double value) { return static_cast<float>(value); });
  require(stored.dtype == "I64",
          "{}: {} is {}, which heed cannot use (only F32, BF16, F16, F64, I32 and I64)", name(),
          one_line(tensor), stored.dtype);
  return converted<int64_t, int32_t>(data, stored.shape, [&](int64_t value) {
    require(std::in_range<int32_t>(value), "{}: {} holds {}, which does not fit 32 bits", name(),
            one_line(tensor), value);
    return static_cast<int32_t>(value);
  });
}

void SafetensorsFile::release(const std::string& tensor) const {
  const Entry& stored = entry(tensor);
  release_pages(file_->bytes(), stored.begin, stored.end);
}

}  // namespace heed::io

#include "heed/format/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/kernels/elementwise.h"

namespace heed::format {
namespace {

constexpr size_t kLengthBytes = 8;
constexpr size_t kLargestHeader = size_t{100} << 20;

struct ElementKind {
  const char* name;
  size_t bytes;
};
constexpr std::array<ElementKind, 6> kKinds{
    {{"F32", 4}, {"BF16", 2}, {"F16", 2}, {"F64", 8}, {"I32", 4}, {"I64", 8}}};

const ElementKind* kind_named(const std::string& name) {
  for (const ElementKind& kind : kKinds)
    if (name == kind.name) return &kind;
  return nullptr;
}

/// The parser keeps the last of two members of one name; this sees both.
class DuplicateNames : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit DuplicateNames(std::string file) : file_(std::move(file)) {}
  bool key(string_t& name) override {
    if (depth_ == 1) require(names_.emplace(name, true).second, "{}: {} occurs twice", file_, name);
    return true;
  }
  bool start_object(std::size_t) override { return ++depth_ > 0; }
  bool end_object() override { return --depth_ >= 0; }
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  std::string file_;
  std::map<std::string, bool> names_;
  int depth_ = 0;
};

float half_to_float(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu, mantissa = half & 0x3ffu;
  if (exponent == 0) {  // zero and subnormal numbers
    const float value = static_cast<float>(mantissa) * 0x1.0p-24f;
    return sign ? -value : value;
  }
  const uint32_t wide = exponent == 0x1f ? 0xffu : exponent + 112;
  return std::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

template <typename From, typename To, typename Convert>
Tensor converted(const std::byte* from, const Shape& shape, Convert&& convert) {
  Tensor tensor = Tensor::empty(shape, dtype_of<To>);
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    From value;
    std::memcpy(&value, from + static_cast<size_t>(i) * sizeof(From), sizeof(From));
    tensor.data<To>()[i] = convert(value);
  }
  return tensor;
}

Shape shape_from(const nlohmann::json& json, const std::string& where) {
  require(json.is_array() && json.size() <= Shape::kMaxRank,
          "{}: shape is {}, expected up to {} sizes", where, detail::excerpt(json),
          Shape::kMaxRank);
  std::array<int64_t, Shape::kMaxRank> sizes{};
  for (size_t axis = 0; axis < json.size(); ++axis)
    sizes[axis] = detail::integer_of(json[axis], "a size", where, 0, int64_t{1} << 48);
  switch (json.size()) {
    case 0:
      return {};
    case 1:
      return {sizes[0]};
    case 2:
      return {sizes[0], sizes[1]};
    case 3:
      return {sizes[0], sizes[1], sizes[2]};
    default:
      return {sizes[0], sizes[1], sizes[2], sizes[3]};
  }
}

size_t offset_from(const nlohmann::json& json, size_t index, const std::string& where) {
  require(json.is_array() && json.size() == 2, "{}: data_offsets is {}, expected two numbers",
          where, detail::excerpt(json));
  return static_cast<size_t>(
      detail::integer_of(json[index], "an offset", where, 0, std::numeric_limits<int64_t>::max()));
}

}  // namespace

Tensor as_f32(const Tensor& tensor) {
  if (tensor.dtype() == DType::f32) return tensor;
  require(tensor.dtype() == DType::bf16, "weights are {}, expected f32 or bf16",
          name_of(tensor.dtype()));
  Tensor wide = Tensor::empty(tensor.shape());
  kernels::convert(tensor, wide);
  return wide;
}

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const std::filesystem::path& path) {
  auto file = std::make_shared<SafetensorsFile>();
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
  require(length <= kLargestHeader && length <= bytes.size() - kLengthBytes,
          "{}: the header has {} bytes, the file only {}", name(), length, bytes.size());
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  const nlohmann::json header = parse_json(text, name());
  require(header.is_object(), "{}: the header is not an object", name());
  DuplicateNames duplicates(name());
  nlohmann::json::sax_parse(text, &duplicates);

  const size_t data_begin = kLengthBytes + length;
  for (const auto& [key, value] : header.items()) {
    if (key != "__metadata__") {
      entries_[key] = read_entry(key, value, data_begin);
      continue;
    }
    require(value.is_object(), "{}: __metadata__ is not an object", name());
    for (const auto& [field, text_value] : value.items())
      metadata_[field] = heed::get<std::string>(value, field, name() + ": __metadata__");
  }
  check_layout(data_begin);
}

SafetensorsFile::Entry SafetensorsFile::read_entry(const std::string& tensor,
                                                   const nlohmann::json& json,
                                                   size_t data_begin) const {
  const std::string where = name() + ": " + tensor;
  Entry entry;
  entry.dtype = heed::get<std::string>(json, "dtype", where);
  const ElementKind* kind = kind_named(entry.dtype);
  require(kind, "{}: dtype is {}, expected F32, BF16, F16, F64, I32 or I64", where, entry.dtype);
  require(json.contains("shape") && json.contains("data_offsets"),
          "{}: shape or data_offsets is missing", where);
  entry.shape = shape_from(json["shape"], where);
  const size_t begin = offset_from(json["data_offsets"], 0, where);
  const size_t end = offset_from(json["data_offsets"], 1, where);
  const size_t room = file_->bytes().size() - data_begin;
  require(begin <= end && end <= room, "{}: data_offsets are [{}, {}], the file holds {} bytes",
          where, begin, end, room);
  const size_t elements = (end - begin) / kind->bytes;
  require(
      (end - begin) % kind->bytes == 0 && elements == static_cast<size_t>(entry.shape.elements()),
      "{}: {} bytes at data_offsets, but {} {} needs {} elements", where, end - begin, entry.dtype,
      entry.shape.text(), entry.shape.elements());
  entry.begin = data_begin + begin;
  entry.end = data_begin + end;
  return entry;
}

/// The tensors must fill the data from beginning to end, each byte belonging to one.
void SafetensorsFile::check_layout(size_t data_begin) const {
  std::vector<std::pair<size_t, size_t>> places;
  for (const auto& [key, entry] : entries_) places.emplace_back(entry.begin, entry.end);
  std::sort(places.begin(), places.end());
  size_t expected = data_begin;
  for (const auto& [begin, end] : places) {
    require(begin == expected, "{}: tensors {} at byte {}", name(),
            begin < expected ? "overlap" : "leave a gap", expected);
    expected = end;
  }
  require(expected == file_->bytes().size(), "{}: {} bytes belong to no tensor", name(),
          file_->bytes().size() - expected);
}

std::vector<std::string> SafetensorsFile::names() const {
  std::vector<std::string> names;
  for (const auto& [key, entry] : entries_) names.push_back(key);
  return names;
}

Tensor SafetensorsFile::get(const std::string& tensor) const {
  const auto found = entries_.find(tensor);
  require(found != entries_.end(), "{}: there is no tensor {}", name(), tensor);
  const Entry& entry = found->second;
  std::byte* data = file_->bytes().data() + entry.begin;
  const auto aligned = [&](size_t bytes) { return reinterpret_cast<uintptr_t>(data) % bytes == 0; };
  const auto view = [&](DType dtype) {
    return Tensor::view(entry.shape, dtype, std::shared_ptr<std::byte>(file_, data));
  };
  const auto same = [](auto value) { return value; };
  if (entry.dtype == "F32")
    return aligned(4) ? view(DType::f32) : converted<float, float>(data, entry.shape, same);
  if (entry.dtype == "BF16")
    return aligned(2) ? view(DType::bf16) : converted<bfloat16, bfloat16>(data, entry.shape, same);
  if (entry.dtype == "I32")
    return aligned(4) ? view(DType::i32) : converted<int32_t, int32_t>(data, entry.shape, same);
  if (entry.dtype == "F16") return converted<uint16_t, float>(data, entry.shape, half_to_float);
  if (entry.dtype == "F64")
    return converted<double, float>(data, entry.shape,
                                    [](double value) { return static_cast<float>(value); });
  return converted<int64_t, int32_t>(data, entry.shape, [&](int64_t value) {
    require(value >= std::numeric_limits<int32_t>::min() &&
                value <= std::numeric_limits<int32_t>::max(),
            "{}: {} holds {}, which does not fit 32 bits", name(), tensor, value);
    return static_cast<int32_t>(value);
  });
}

}  // namespace heed::format

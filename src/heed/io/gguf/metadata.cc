#include "heed/io/gguf/metadata.h"

#include <limits>
#include <ranges>
#include <type_traits>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/base/reader_limits.h"
#include "heed/io/gguf/cursor.h"

namespace heed::io {
namespace {

constexpr size_t kMinTensorEntry = 8 + 4 + 4 + 8;  // length of the name, axes, type, offset
constexpr size_t kMinPair = 8 + 4 + 1;             // length of the key, type, value
constexpr size_t kMinArray = 4 + 8;                // type and number of the elements
constexpr uint32_t kLastType = static_cast<uint32_t>(GgufType::f64);

bool is_integer(GgufType type) {
  return type <= GgufType::i32 || type == GgufType::u64 || type == GgufType::i64;
}

/// The size of a value in bytes; 0 for strings and arrays, whose size varies.
size_t bytes_of(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean:
      return 1;
    case GgufType::u16:
    case GgufType::i16:
      return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32:
      return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64:
      return 8;
    case GgufType::string:
    case GgufType::array:
      return 0;
  }
  return 0;
}

const char* name_of(GgufType type) {
  if (is_integer(type)) return "integer";
  switch (type) {
    case GgufType::boolean:
      return "boolean";
    case GgufType::string:
      return "string";
    case GgufType::array:
      return "array";
    default:
      return "number";
  }
}

GgufType read_type(GgufCursor& cursor, const std::string& what) {
  const auto type = cursor.number<uint32_t>(what);
  require(type <= kLastType, "{}: {} has the unknown type {}", cursor.file(), what, type);
  return static_cast<GgufType>(type);
}

void skip_value(GgufCursor& cursor, GgufType type, const std::string& what, int depth);

void skip_elements(GgufCursor& cursor, GgufType type, uint64_t count, const std::string& what,
                   int depth) {
  if (const size_t bytes = bytes_of(type)) {
    cursor.skip(count * bytes, what);  // cannot overflow: the count was checked
    return;
  }
  for (uint64_t i = 0; i < count; ++i) skip_value(cursor, type, what, depth);
}

/// Reads the header of an array: the type and the number of its elements.
std::pair<GgufType, uint64_t> read_array_header(GgufCursor& cursor, const std::string& what) {
  const GgufType type = read_type(cursor, what);
  const size_t bytes = bytes_of(type);
  const size_t min_bytes = bytes ? bytes : type == GgufType::string ? sizeof(uint64_t) : kMinArray;
  return {type, cursor.count(what, min_bytes)};
}

void skip_value(GgufCursor& cursor, GgufType type, const std::string& what, int depth) {
  if (type == GgufType::string) {
    cursor.text(what);
  } else if (type == GgufType::array) {
    require(depth < limits::kMaxGgufArrayDepth,
            "{}: {} has nested arrays, {} levels deep, expected at most {}", cursor.file(), what,
            depth + 1, limits::kMaxGgufArrayDepth);
    const auto [element, count] = read_array_header(cursor, what);
    skip_elements(cursor, element, count, what, depth + 1);
  } else {
    cursor.skip(bytes_of(type), what);
  }
}

template <typename T>
constexpr const char* kExpected = "an integer";
template <>
constexpr const char* kExpected<double> = "a number";
template <>
constexpr const char* kExpected<bool> = "a boolean";
template <>
constexpr const char* kExpected<std::string> = "a string";
template <>
constexpr const char* kExpected<std::string_view> = "a string";

template <typename T>
constexpr bool kIsText = std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>;

/// Whether a stored value of `type` can be read as a T.
template <typename T>
bool is_readable_as(GgufType type) {
  if constexpr (std::is_same_v<T, bool>) return type == GgufType::boolean;
  if constexpr (kIsText<T>) return type == GgufType::string;
  if constexpr (std::is_same_v<T, double>)
    if (type == GgufType::f32 || type == GgufType::f64) return true;
  return is_integer(type);
}

template <typename T>
struct IsVector : std::false_type {};
template <typename T>
struct IsVector<std::vector<T>> : std::true_type {};

}  // namespace

std::vector<std::string> GgufMetadata::keys() const {
  const auto keys = std::views::keys(values_);
  return {keys.begin(), keys.end()};
}

uint64_t read_gguf_start(GgufCursor& cursor) {
  const std::string& file = cursor.file();
  require(cursor.remaining() >= sizeof(kGgufMagic) && cursor.number<uint32_t>("") == kGgufMagic,
          "{}: is not a GGUF file: it does not begin with \"GGUF\"", file);
  const auto version = cursor.number<uint32_t>("the version");
  require(version != 0x02000000u && version != 0x03000000u,
          "{}: is a big-endian GGUF file, expected a little-endian one", file);
  require(version == 2 || version == 3, "{}: has GGUF version {}, expected 2 or 3", file, version);
  return cursor.count("the list of tensors", kMinTensorEntry);
}

bool is_gguf(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  GgufCursor cursor(file->bytes(), path.string());
  return cursor.remaining() >= sizeof(kGgufMagic) && cursor.number<uint32_t>("") == kGgufMagic;
}

GgufMetadata GgufMetadata::open(const std::filesystem::path& path) {
  GgufMetadata metadata;
  metadata.file_name_ = path.string();
  metadata.file_ = MappedFile::open(path);
  GgufCursor cursor = metadata.cursor_at(0);
  read_gguf_start(cursor);
  metadata.read(cursor);
  return metadata;
}

void GgufMetadata::read(GgufCursor& cursor) {
  const uint64_t count = cursor.count("the metadata", kMinPair);
  for (uint64_t i = 0; i < count; ++i) {
    const std::string key(cursor.text("a key of the metadata"));
    const std::string what = one_line(key);
    Value value{.type = read_type(cursor, what), .begin = cursor.position()};
    if (value.type == GgufType::array) {
      std::tie(value.element, value.count) = read_array_header(cursor, what);
      value.begin = cursor.position();
      skip_elements(cursor, value.element, value.count, what, 1);
    } else {
      skip_value(cursor, value.type, what, 0);
    }
    require(values_.emplace(key, value).second, "{}: {} occurs twice", file_name_, what);
  }
}

GgufCursor GgufMetadata::cursor_at(size_t position) const {
  return {file_->bytes(), file_name_, position};
}

const GgufMetadata::Value& GgufMetadata::value(const std::string& key) const {
  const auto found = values_.find(key);
  require(found != values_.end(), "{}: {} is missing", file_name_, one_line(key));
  return found->second;
}

int64_t GgufMetadata::length(const std::string& key) const {
  const Value& found = value(key);
  require(found.type == GgufType::array, "{}: {} is {}, expected an array", file_name_,
          one_line(key), text(found));
  return static_cast<int64_t>(found.count);
}

/// The value for an error message.
std::string GgufMetadata::text(const Value& value) const {
  GgufCursor cursor = cursor_at(value.begin);
  if (value.type == GgufType::array)
    return fmt::format("an array of {} {}s", value.count, name_of(value.element));
  if (value.type == GgufType::string) return fmt::format("the string {}", quoted(cursor.text("")));
  if (value.type == GgufType::boolean) return cursor.number<uint8_t>("") ? "true" : "false";
  if (value.type == GgufType::u64) return fmt::format("{}", cursor.number<uint64_t>(""));
  if (is_integer(value.type)) return fmt::format("{}", element<int64_t>("", value.type, cursor));
  return fmt::format("the number {}", element<double>("", value.type, cursor));
}

template <typename T>
T GgufMetadata::element(const std::string& key, GgufType type, GgufCursor& cursor) const {
  if constexpr (kIsText<T>) {
    return T(cursor.text(key));
  } else {
    const auto read_as = [&]<typename Stored>(Stored) {
      return static_cast<T>(cursor.number<Stored>(key));
    };
    switch (type) {
      case GgufType::boolean:
      case GgufType::u8:
        return read_as(uint8_t{});
      case GgufType::i8:
        return read_as(int8_t{});
      case GgufType::u16:
        return read_as(uint16_t{});
      case GgufType::i16:
        return read_as(int16_t{});
      case GgufType::u32:
        return read_as(uint32_t{});
      case GgufType::i32:
        return read_as(int32_t{});
      case GgufType::f32:
        return read_as(float{});
      case GgufType::f64:
        return read_as(double{});
      case GgufType::i64:
        return read_as(int64_t{});
      default: {
        const auto number = cursor.number<uint64_t>(key);
        if constexpr (std::is_same_v<T, int64_t>)
          require(std::in_range<int64_t>(number),
                  "{}: {} is {}, which does not fit into a signed 64-bit integer", file_name_,
                  one_line(key), number);
        return static_cast<T>(number);
      }
    }
  }
}

template <typename T>
T GgufMetadata::get(const std::string& key) const {
  const Value& found = value(key);
  GgufCursor cursor = cursor_at(found.begin);
  if constexpr (IsVector<T>::value) {
    using Element = typename T::value_type;
    require(found.type == GgufType::array && is_readable_as<Element>(found.element),
            "{}: {} is {}, expected an array in which each element is {}", file_name_,
            one_line(key), text(found), kExpected<Element>);
    T result;
    result.reserve(found.count);
    for (uint64_t i = 0; i < found.count; ++i)
      result.push_back(element<Element>(key, found.element, cursor));
    return result;
  } else {
    require(is_readable_as<T>(found.type), "{}: {} is {}, expected {}", file_name_, one_line(key),
            text(found), kExpected<T>);
    return element<T>(key, found.type, cursor);
  }
}

template int64_t GgufMetadata::get(const std::string&) const;
template double GgufMetadata::get(const std::string&) const;
template bool GgufMetadata::get(const std::string&) const;
template std::string GgufMetadata::get(const std::string&) const;
template std::vector<int64_t> GgufMetadata::get(const std::string&) const;
template std::vector<double> GgufMetadata::get(const std::string&) const;
template std::vector<bool> GgufMetadata::get(const std::string&) const;
template std::vector<std::string> GgufMetadata::get(const std::string&) const;
template std::vector<std::string_view> GgufMetadata::get(const std::string&) const;

}  // namespace heed::io

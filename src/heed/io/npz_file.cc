#include "heed/io/npz_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <ranges>
#include <span>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY", kEnding = ".npy";

/// A dtype of numpy, and as safetensors files name it.
struct NumpyType {
  std::string_view numpy, name;
  size_t bytes;
};
constexpr std::array<NumpyType, 8> kNumpyTypes{{{"<f4", "F32", 4},
                                                {"<f2", "F16", 2},
                                                {"<f8", "F64", 8},
                                                {"<i4", "I32", 4},
                                                {"<i8", "I64", 8},
                                                {"|i1", "I8", 1},
                                                {"|u1", "U8", 1},
                                                {"<i1", "I8", 1}}};

/// What stands behind 'key': in a header, up to a comma or the end of a tuple.
std::string_view value_in(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}':", key));
  if (at == header.npos) return {};
  std::string_view rest = header.substr(at + key.size() + 3);
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  const bool tuple = rest.starts_with('(');
  const size_t end = std::min(rest.find_first_of(tuple ? ")" : ",}"), rest.size());
  return rest.substr(0, end + (tuple && end < rest.size() ? 1 : 0));
}

/// "(2, 3)", "(2,)" or "()".
std::optional<std::vector<int64_t>> sizes_of(std::string_view tuple) {
  if (!tuple.starts_with('(') || !tuple.ends_with(')')) return {};
  tuple = tuple.substr(1, tuple.size() - 2);
  std::vector<int64_t> sizes;
  while (true) {
    tuple.remove_prefix(std::min(tuple.find_first_not_of(", "), tuple.size()));
    if (tuple.empty()) return sizes;
    int64_t size = 0;
    const auto [end, error] = std::from_chars(tuple.data(), tuple.data() + tuple.size(), size);
    if (error != std::errc() || size < 0) return {};
    sizes.push_back(size);
    tuple.remove_prefix(static_cast<size_t>(end - tuple.data()));
  }
}

/// The header of an array, and how many bytes stand before its elements.
std::pair<std::string_view, size_t> header_of(std::string_view bytes, const std::string& where) {
  const size_t fixed = kMagic.size() + 2;
  require(bytes.starts_with(kMagic) && bytes.size() >= fixed + 4,
          "{}: is no array in numpy's format", where);
  const auto version = static_cast<uint8_t>(bytes[kMagic.size()]);
  require(version >= 1 && version <= 3, "{}: has version {} of numpy's format, expected 1 to 3",
          where, version);
  uint32_t length = 0;
  const size_t length_bytes = version == 1 ? 2 : 4;
  std::memcpy(&length, bytes.data() + fixed, length_bytes);
  const size_t begin = fixed + length_bytes;
  require(length <= bytes.size() - begin, "{}: its header has {} bytes, more than there are", where,
          length);
  return {bytes.substr(begin, length), begin + length};
}

}  // namespace

NpzFile::Array NpzFile::read_array(const ZipArchive::Entry& entry,
                                   std::span<const std::byte> bytes) const {
  const std::string where = fmt::format("{}: {}", path_, one_line(entry.name));
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const auto [header, begin] = header_of(text, where);
  std::string_view numpy = value_in(header, "descr");
  if (numpy.size() >= 2) numpy = numpy.substr(1, numpy.size() - 2);
  const auto type = std::ranges::find(kNumpyTypes, numpy, &NumpyType::numpy);
  require(type != kNumpyTypes.end(), "{}: has the dtype {}, which heed does not read", where,
          quoted(numpy));
  require(value_in(header, "fortran_order") == "False", "{}: is in the order of Fortran", where);
  const auto sizes = sizes_of(value_in(header, "shape"));
  require(sizes.has_value(), "{}: its header has no shape", where);
  require(sizes->size() <= size_t{Shape::kMaxRank}, "{}: has {} axes, expected at most {}", where,
          sizes->size(), Shape::kMaxRank);
  const size_t all = text.size() - begin;
  size_t elements = 1;
  for (const int64_t size : *sizes) {
    const auto count = static_cast<size_t>(size);
    require(count == 0 || elements <= all / count, "{}: has fewer elements than its shape", where);
    elements *= count;
  }
  require(elements * type->bytes == all, "{}: has {} bytes, expected {} elements of {}", where, all,
          elements, type->bytes);
  return {.elements = {.dtype = std::string(type->name),
                       .shape = Shape(std::span<const int64_t>(*sizes)),
                       .begin = entry.begin + begin},
          .dtype = std::string(numpy),
          .bytes = all};
}

NpzFile::NpzFile(const std::filesystem::path& path)
    : path_(path.string()), file_(MappedFile::open(path)) {
  require(ZipArchive::is_zip(file_->bytes()), "{}: is no zip archive, as numpy.savez() writes it",
          path_);
  const ZipArchive archive(file_, path_);
  for (const ZipArchive::Entry& entry : archive.entries()) {
    std::string_view name = entry.name;
    if (name.ends_with(kEnding)) name.remove_suffix(kEnding.size());
    require(arrays_.emplace(name, read_array(entry, archive.bytes_of(entry))).second,
            "{}: {} occurs twice", path_, one_line(name));
  }
}

std::shared_ptr<const NpzFile> NpzFile::open(const std::filesystem::path& path) {
  return std::shared_ptr<const NpzFile>(new NpzFile(path));
}

std::vector<std::string> NpzFile::names() const {
  const auto keys = std::views::keys(arrays_);
  return {keys.begin(), keys.end()};
}

const NpzFile::Array& NpzFile::array(const std::string& name) const {
  const auto found = arrays_.find(name);
  require(found != arrays_.end(), "{}: there is no array {}", path_, one_line(name));
  return found->second;
}

Tensor NpzFile::get(const std::string& name) const {
  const Array& own = array(name);
  return tensor_of(file_, own.elements, fmt::format("{}: {}", path_, one_line(name)), own.dtype);
}

std::string_view NpzFile::text(const std::string& name) const {
  const Array& own = array(name);
  require(own.elements.dtype == "I8" || own.elements.dtype == "U8",
          "{}: {} has the dtype {}, expected 8-bit integers", path_, one_line(name), own.dtype);
  return {reinterpret_cast<const char*>(file_->bytes().data()) + own.elements.begin, own.bytes};
}

}  // namespace heed::io

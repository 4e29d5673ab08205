#include "heed/detect/identifier.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "heed/base/error.h"

namespace heed::detect {
namespace {

static_assert(std::endian::native == std::endian::little, "files of identifiers are little-endian");

constexpr std::string_view kMagic = "heedlid1";
constexpr int kMostRowBits = 22, kMostWidth = 256;
constexpr uint32_t kMostLanguages = 1000;

template <typename T>
void append(std::string& bytes, const std::vector<T>& values) {
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  std::string_view take(size_t size) {
    require(size <= bytes_.size(), "a file of a language identifier ends too early");
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  template <typename T>
  std::vector<T> values(size_t count) {
    const std::string_view taken = take(count * sizeof(T));
    std::vector<T> values(count);
    std::memcpy(values.data(), taken.data(), taken.size());
    return values;
  }
  uint32_t number(uint32_t least, uint32_t most, const char* what) {
    const uint32_t number = values<uint32_t>(1).front();
    require(number >= least && number <= most,
            "a file of a language identifier says {} {}, expected {} to {}", number, what, least,
            most);
    return number;
  }
  bool at_end() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

}  // namespace

Identifier::Identifier(Parts parts) : parts_(std::move(parts)), scales_(256) {
  const size_t rows = size_t{1} << parts_.shape.row_bits;
  const auto width = static_cast<size_t>(parts_.shape.width);
  require(width % 2 == 0 && width <= kMostWidth && parts_.table.exponents.size() == rows &&
              parts_.table.values.size() == rows * width / 2 && parts_.pages.size() == kPages / 8 &&
              parts_.output.size() == parts_.languages.size() * width &&
              parts_.bias.size() == parts_.languages.size(),
          "the parts of a language identifier do not fit each other");
  for (size_t exponent = 0; exponent < scales_.size(); ++exponent)
    scales_[exponent] = parts_.table.scale * std::exp2(-static_cast<float>(exponent) /
                                                       QuantisedTable::kExponentsPerOctave);
  columns_.resize(parts_.output.size());
  for (size_t language = 0; language < parts_.languages.size(); ++language)
    for (size_t i = 0; i < width; ++i)
      columns_[i * parts_.languages.size() + language] = parts_.output[language * width + i];
}

std::string Identifier::bytes() const {
  std::string names;
  for (const std::string& language : parts_.languages) names += language + '\n';
  std::string bytes(kMagic);
  append(bytes, std::vector<uint32_t>{static_cast<uint32_t>(parts_.shape.row_bits),
                                      static_cast<uint32_t>(parts_.shape.width),
                                      static_cast<uint32_t>(parts_.languages.size()),
                                      static_cast<uint32_t>(names.size())});
  bytes += names;
  append(bytes, parts_.pages);
  append(bytes, std::vector<float>{parts_.table.scale});
  append(bytes, parts_.table.exponents);
  append(bytes, parts_.table.values);
  append(bytes, parts_.output);
  append(bytes, parts_.bias);
  return bytes;
}

Identifier Identifier::from_bytes(std::string_view bytes) {
  require(bytes.starts_with(kMagic), "this is no file of a language identifier");
  Reader reader(bytes.substr(kMagic.size()));
  Parts parts;
  parts.shape.row_bits = static_cast<int>(reader.number(1, kMostRowBits, "bits of rows"));
  parts.shape.width = static_cast<int>(reader.number(2, kMostWidth, "values in a row"));
  const uint32_t languages = reader.number(1, kMostLanguages, "languages");
  std::string_view names = reader.take(reader.number(1, 64 * kMostLanguages, "bytes of names"));
  for (size_t end; (end = names.find('\n')) != std::string_view::npos; names.remove_prefix(end + 1))
    parts.languages.emplace_back(names.substr(0, end));
  require(parts.languages.size() == languages && names.empty(),
          "a file of a language identifier names {} languages, expected {}", parts.languages.size(),
          languages);
  const size_t rows = size_t{1} << parts.shape.row_bits;
  const auto width = static_cast<size_t>(parts.shape.width);
  parts.pages = reader.values<uint8_t>(kPages / 8);
  parts.table.scale = reader.values<float>(1).front();
  parts.table.exponents = reader.values<uint8_t>(rows);
  parts.table.values = reader.values<uint8_t>(rows * width / 2);
  parts.output = reader.values<float>(languages * width);
  parts.bias = reader.values<float>(languages);
  require(reader.at_end(), "a file of a language identifier is too long");
  return Identifier(std::move(parts));
}

void Identifier::add_rows(std::span<const uint32_t> hashes, std::span<float> sum) const {
  const size_t half = sum.size() / 2;
  // Apart from `sum`, which bytes may alias, and by whole vectors, so that compilers vectorise.
  constexpr size_t kVector = 8;
  std::array<float, kMostWidth / 2> low{}, high{};
  for (const uint32_t hash : hashes) {
    const uint32_t row = row_of(hash, parts_.shape.row_bits);
    const float scale = scales_[parts_.table.exponents[row]];
    const uint8_t* values = &parts_.table.values[row * half];
    const auto add = [&](size_t i) {
      low[i] += scale * static_cast<float>((values[i] & 15) - 8);
      high[i] += scale * static_cast<float>((values[i] >> 4) - 8);
    };
    size_t begin = 0;
    for (; begin + kVector <= half; begin += kVector)
      for (size_t i = begin; i < begin + kVector; ++i) add(i);
    for (; begin < half; ++begin) add(begin);
  }
  std::copy_n(low.begin(), half, sum.begin());
  std::copy_n(high.begin(), half, sum.begin() + static_cast<std::ptrdiff_t>(half));
}

bool Identifier::logits(std::string_view text, std::span<float> logits) const {
  thread_local Features features;
  extract_features(text, features);
  const auto known = std::ranges::count_if(features.pages, [&](uint16_t p) { return knows(p); });
  if (2 * static_cast<size_t>(known) <= features.pages.size()) return false;
  const auto width = static_cast<size_t>(parts_.shape.width);
  std::vector<float> sum(width);
  add_rows(features.hashes, sum);
  const float factor = 1.0f / std::sqrt(static_cast<float>(features.hashes.size()));
  // By columns, which compilers vectorise: each language's sum keeps its order.
  std::ranges::copy(parts_.bias, logits.begin());
  for (size_t i = 0; i < width; ++i) {
    const float value = factor * sum[i];
    const float* column = &columns_[i * logits.size()];
    for (size_t language = 0; language < logits.size(); ++language)
      logits[language] += value * column[language];
  }
  return true;
}

}  // namespace heed::detect

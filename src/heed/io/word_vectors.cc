#include "heed/io/word_vectors.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/base/reader_limits.h"

namespace heed::io {
namespace {

constexpr std::string_view kBlanks = " \t\r";

template <typename Number>
std::optional<Number> number_of(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// A finite f32; numbers too small for f32 become 0.
std::optional<float> float_of(std::string_view text) {
  const auto wide = number_of<double>(text);
  if (!wide || !std::isfinite(static_cast<float>(*wide))) return std::nullopt;
  return static_cast<float>(*wide);
}

/// Splits a line into its blank-separated fields.
void split(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  for (size_t end = 0;;) {
    const size_t begin = line.find_first_not_of(kBlanks, end);
    if (begin == std::string_view::npos) return;
    end = std::min(line.find_first_of(kBlanks, begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
  }
}

struct Header {
  int64_t words = 0, dimension = 0;
};

/// The line "count dimension".
std::optional<Header> header_of(const std::vector<std::string_view>& fields) {
  if (fields.size() != 2) return std::nullopt;
  const auto words = number_of<int64_t>(fields[0]);
  const auto dimension = number_of<int64_t>(fields[1]);
  if (!words || !dimension) return std::nullopt;
  return Header{*words, *dimension};
}

class Reader {
 public:
  Reader(const std::filesystem::path& path, const std::unordered_set<std::string>& wanted)
      : name_(path.string()),
        wanted_(wanted),
        file_(MappedFile::open(path)),
        rest_(reinterpret_cast<const char*>(file_->bytes().data()), file_->bytes().size()) {}

  WordVectors read() {
    require(!rest_.empty(), "{}: is empty", name_);
    split(line(), fields_);
    const std::optional<Header> header = header_of(fields_);
    if (header) {
      require(header->dimension > 0 && header->dimension <= limits::kMaxWordVectorDimension &&
                  header->words >= 0,
              "{}: the header announces {} words of {} dimensions, expected 0 or more words of 1 "
              "to {} dimensions",
              name_, header->words, header->dimension, limits::kMaxWordVectorDimension);
      vectors_.dimension = header->dimension;
      next_line();
    }
    if (header && looks_binary()) {
      read_binary(header->words);
    } else {
      const int64_t words = read_text();
      require(!header || words >= header->words, "{}: is truncated after {} of {} words", name_,
              words, header ? header->words : 0);
    }
    return std::move(vectors_);
  }

 private:
  std::string_view line() const { return rest_.substr(0, rest_.find('\n')); }

  void next_line() {
    rest_.remove_prefix(std::min(line().size() + 1, rest_.size()));
    ++line_;
  }

  size_t row_bytes() const { return static_cast<size_t>(vectors_.dimension) * sizeof(float); }

  /// Whether the data after the header is binary: its first line does not parse as a text vector,
  /// and the bytes of the first binary row contain characters that text files do not use.
  bool looks_binary() {
    split(line(), fields_);
    if (static_cast<int64_t>(fields_.size()) > vectors_.dimension &&
        std::all_of(fields_.end() - vectors_.dimension, fields_.end(), float_of))
      return false;
    const std::string_view row = rest_.substr(std::min(rest_.find(' '), rest_.size()), row_bytes());
    return std::any_of(row.begin(), row.end(), [](char c) {
      const bool blank = c == '\n' || kBlanks.find(c) != std::string_view::npos;
      return !blank && (c < ' ' || c > '~');
    });
  }

  void read_binary(int64_t words) {
    for (int64_t number = 1; number <= words; ++number) {
      while (!rest_.empty() && rest_.front() == '\n') rest_.remove_prefix(1);
      const size_t space = rest_.find(' ');
      require(space != std::string_view::npos && rest_.size() - space - 1 >= row_bytes(),
              "{}: is truncated in word {} of {}", name_, number, words);
      const std::string word(rest_.substr(0, space));
      if (wanted_.contains(word)) {
        std::vector<float> row(static_cast<size_t>(vectors_.dimension));
        std::memcpy(row.data(), rest_.data() + space + 1, row_bytes());
        const bool finite =
            std::all_of(row.begin(), row.end(), [](float x) { return std::isfinite(x); });
        require(finite, "{}: the vector of word {}, {}, is not finite", name_, number,
                quoted(word));
        vectors_.rows.emplace(word, std::move(row));
      }
      rest_.remove_prefix(space + 1 + row_bytes());
    }
  }

  /// Returns the number of words read.
  int64_t read_text() {
    int64_t words = 0;
    for (; !rest_.empty(); next_line()) {
      split(line(), fields_);
      if (fields_.empty()) continue;
      read_row();
      ++words;
    }
    require(words > 0, "{}: holds no vectors", name_);
    return words;
  }

  /// The last `dimension` fields are the vector; the fields before them are the word, since some
  /// words in GloVe's files contain spaces.
  void read_row() {
    const auto found = static_cast<int64_t>(fields_.size()) - 1;
    const bool first = vectors_.dimension == 0;
    if (first) {
      require(0 < found && found <= limits::kMaxWordVectorDimension,
              "{}:{}: {} numbers, expected 1 to {}", name_, line_, found,
              limits::kMaxWordVectorDimension);
      vectors_.dimension = found;
    }
    const auto word_fields = static_cast<size_t>(std::max<int64_t>(found - vectors_.dimension, 0));
    const bool fits =
        found >= vectors_.dimension && (word_fields == 0 || !float_of(fields_[word_fields]));
    require(fits, "{}:{}: {} numbers, expected {}", name_, line_, found, vectors_.dimension);
    const char* end = fields_[word_fields].data() + fields_[word_fields].size();
    const std::string word(fields_.front().data(), end);
    // The first row is always parsed, to reject files that hold no vectors.
    if (!first && !wanted_.contains(word)) return;
    std::vector<float> row;
    for (const std::string_view text : std::span(fields_).subspan(word_fields + 1)) {
      const auto x = float_of(text);
      if (!x) fail("{}:{}: {} is not a finite number", name_, line_, quoted(text));
      row.push_back(*x);
    }
    if (wanted_.contains(word)) vectors_.rows.emplace(word, std::move(row));
  }

  std::string name_;
  const std::unordered_set<std::string>& wanted_;
  std::shared_ptr<MappedFile> file_;
  std::string_view rest_;
  std::vector<std::string_view> fields_;
  int64_t line_ = 1;
  WordVectors vectors_;
};

}  // namespace

WordVectors read_word_vectors(const std::filesystem::path& path,
                              const std::unordered_set<std::string>& wanted) {
  return Reader(path, wanted).read();
}

}  // namespace heed::io

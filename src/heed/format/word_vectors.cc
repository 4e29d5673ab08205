#include "heed/format/word_vectors.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/file.h"

namespace heed::format {
namespace {

constexpr int64_t kLargestDimension = 65536;

template <typename Number>
std::optional<Number> number_of(std::string_view word) {
  Number value{};
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

/// The next word of a line; empty at its end.
std::string_view next_word(std::string_view& line) {
  const size_t begin = line.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return line = {};
  const size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

struct Header {
  int64_t words = 0, dimension = 0;
};

/// "count dimension", and nothing else.
std::optional<Header> header_of(std::string_view line) {
  const auto words = number_of<int64_t>(next_word(line));
  const auto dimension = number_of<int64_t>(next_word(line));
  if (!words || !dimension || !next_word(line).empty()) return std::nullopt;
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
    const size_t end = std::min(rest_.find('\n'), rest_.size());
    const std::optional<Header> header = header_of(rest_.substr(0, end));
    if (header) {
      require(header->dimension > 0 && header->dimension <= kLargestDimension && header->words >= 0,
              "{}: {} words of {} dimensions", name_, header->words, header->dimension);
      vectors_.dimension = header->dimension;
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
      line_ = 2;
      if (looks_binary())
        read_binary(*header);
      else
        read_text();
    } else {
      read_text();
    }
    return std::move(vectors_);
  }

 private:
  /// In a text file the first vector's bytes are digits, signs and spaces.
  bool looks_binary() const {
    const size_t space = rest_.find(' ');
    if (space == std::string_view::npos) return false;
    const auto bytes = static_cast<size_t>(vectors_.dimension) * sizeof(float);
    for (const char c : rest_.substr(space, bytes))
      if (std::strchr("0123456789+-.eEinfaN \t\r\n", c) == nullptr || c == '\0') return true;
    return false;
  }

  void read_binary(const Header& header) {
    const auto bytes = static_cast<size_t>(header.dimension) * sizeof(float);
    for (int64_t number = 1; number <= header.words; ++number) {
      while (!rest_.empty() && rest_.front() == '\n') rest_.remove_prefix(1);
      const size_t space = rest_.find(' ');
      require(space != std::string_view::npos && rest_.size() - space - 1 >= bytes,
              "{}: ends within word {} of {}", name_, number, header.words);
      const std::string word(rest_.substr(0, space));
      if (wanted_.contains(word)) {
        std::vector<float> row(static_cast<size_t>(header.dimension));
        std::memcpy(row.data(), rest_.data() + space + 1, bytes);
        for (const float x : row)
          require(std::isfinite(x), "{}: word {} holds what is no number", name_, number);
        vectors_.rows.emplace(word, std::move(row));
      }
      rest_.remove_prefix(space + 1 + bytes);
    }
  }

  void read_text() {
    for (; !rest_.empty(); ++line_) {
      const size_t end = std::min(rest_.find('\n'), rest_.size());
      read_line(rest_.substr(0, end));
      rest_.remove_prefix(std::min(end + 1, rest_.size()));
    }
  }

  void read_line(std::string_view line) {
    const std::string word(next_word(line));
    if (word.empty()) return;
    std::vector<float> row;
    for (std::string_view text = next_word(line); !text.empty(); text = next_word(line)) {
      const auto x = number_of<float>(text);
      require(x && std::isfinite(*x), "{}:{}: \"{}\" is no number", name_, line_,
              text.substr(0, 40));
      row.push_back(*x);
    }
    const auto found = static_cast<int64_t>(row.size());
    if (vectors_.dimension == 0) vectors_.dimension = found;
    require(found == vectors_.dimension && found > 0, "{}:{}: {} numbers, expected {}", name_,
            line_, found, vectors_.dimension);
    if (wanted_.contains(word)) vectors_.rows.emplace(word, std::move(row));
  }

  std::string name_;
  const std::unordered_set<std::string>& wanted_;
  std::shared_ptr<MappedFile> file_;
  std::string_view rest_;
  int64_t line_ = 1;
  WordVectors vectors_;
};

}  // namespace

WordVectors read_word_vectors(const std::filesystem::path& path,
                              const std::unordered_set<std::string>& wanted) {
  return Reader(path, wanted).read();
}

}  // namespace heed::format

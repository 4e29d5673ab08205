#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heed/jinja/budget.h"

namespace heed::jinja {

/// Bytes [begin, end) of a text.
struct Span {
  size_t begin, end;
  bool operator==(const Span&) const = default;
};

/// An immutable string: UTF-8 that knows which of its bytes came from the input, that is from
/// strings of the context. Every operation keeps that exactly: a byte of a result is marked if the
/// character that it stands for was.
struct Text {
  std::string bytes = {};
  std::vector<Span> input = {};  // ascending; no two touch
  size_t length = 0;             // code points
  bool markup = false;           // Python's Markup: what the filter "safe" returns
  Charge charge = {};

  bool is_ascii() const { return length == bytes.size(); }
  /// The byte at which code point `index` begins; bytes.size() if there are no more.
  size_t byte_of(size_t index) const;
};
using TextRef = std::shared_ptr<const Text>;

/// One code point of a text.
struct Character {
  char32_t value;
  size_t begin, end;  // its bytes
  bool input;
};

/// Reads the code points of a text in order.
class CharacterReader {
 public:
  explicit CharacterReader(const Text& text) : text_(text) {}
  bool done() const { return at_ == text_.bytes.size(); }
  Character next();

 private:
  const Text& text_;
  size_t at_ = 0, span_ = 0;
};

/// Joins pieces of texts into a new one.
class TextBuilder {
 public:
  /// For the constants of a template, which no budget counts.
  TextBuilder() = default;
  explicit TextBuilder(Budget& budget) : charge_(budget, 0) {}

  size_t size() const { return bytes_.size(); }
  void append(std::string_view bytes, bool input = false);
  void append(const Text& text) { append(text, 0, text.bytes.size()); }
  /// Bytes [begin, end) of `text`.
  void append(const Text& text, size_t begin, size_t end);

  Text finish(bool markup = false);

 private:
  void reserve(size_t more);

  std::string bytes_;
  std::vector<Span> input_;
  Charge charge_;
};

}  // namespace heed::jinja

#include "heed/text/pre_tokenizers/pre_tokenizer.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/files/read_steps.h"
#include "heed/text/pre_tokenizers/split_text.h"
#include "heed/text/regex/pattern.h"
#include "heed/text/text_size.h"
#include "heed/text/unicode/properties.h"

namespace heed::text {
namespace {

class PreTokenizerSequence : public PreTokenizer {
 public:
  explicit PreTokenizerSequence(std::vector<std::unique_ptr<PreTokenizer>> parts)
      : parts_(std::move(parts)) {}

  void apply(TextPieces& pieces, size_t max_size) const override {
    for (const auto& part : parts_) part->apply(pieces, max_size);
  }

 private:
  std::vector<std::unique_ptr<PreTokenizer>> parts_;
};

class Split : public PieceSplitter {
 public:
  Split(Regex pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

 protected:
  void split(NormalizedText&& text, TextPieces& parts) const override {
    auto spans = mark_all(pattern_.find_all(text.text), text.text.size());
    if (invert_)
      for (MarkedSpan& span : spans) span.delimiter = !span.delimiter;
    split_text(text, spans, behavior_, parts);
  }

 private:
  Regex pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

/// Splits at single code points.
class CodePointSplit : public PieceSplitter {
 public:
  using Predicate = bool (*)(char32_t);
  CodePointSplit(Predicate is_delimiter, SplitBehavior behavior)
      : is_delimiter_(is_delimiter), behavior_(behavior) {}

 protected:
  void split(NormalizedText&& text, TextPieces& parts) const override {
    split_text(text, mark_code_points(text.text, is_delimiter_), behavior_, parts);
  }

 private:
  Predicate is_delimiter_;
  SplitBehavior behavior_;
};

class CharacterDelimiter : public PieceSplitter {
 public:
  explicit CharacterDelimiter(std::string_view delimiter)
      : delimiter_(code_point_at(delimiter, 0).value) {}

 protected:
  void split(NormalizedText&& text, TextPieces& parts) const override {
    const auto is_delimiter = [&](char32_t value) { return value == delimiter_; };
    split_text(text, mark_code_points(text.text, is_delimiter), SplitBehavior::removed, parts);
  }

 private:
  char32_t delimiter_;
};

/// Words, and runs of what is neither word nor white space.
class Whitespace : public PieceSplitter {
 protected:
  void split(NormalizedText&& text, TextPieces& parts) const override {
    enum class Class { space, word, other };
    std::vector<TextSpan> words;
    Class last = Class::space;
    size_t position = 0;
    for_each_code_point(text.text, [&](const CodePoint& point, std::string_view) {
      const Class now = is_word(point.value)          ? Class::word
                        : is_white_space(point.value) ? Class::space
                                                      : Class::other;
      if (now != Class::space && now == last) words.back().end += point.length;
      if (now != Class::space && now != last) words.push_back({position, position + point.length});
      last = now;
      position += point.length;
    });
    for (const TextSpan word : words) parts.push_back({part_of(text, word), std::nullopt});
  }
};

class FixedLength : public PieceSplitter {
 public:
  explicit FixedLength(int64_t length) : length_(length) {}

 protected:
  void split(NormalizedText&& text, TextPieces& parts) const override {
    TextSpan span;
    int64_t count = 0;
    for_each_code_point(text.text, [&](const CodePoint& point, std::string_view) {
      span.end += point.length;
      if (++count < length_) return;
      parts.push_back({part_of(text, span), std::nullopt});
      span.begin = span.end;
      count = 0;
    });
    if (count > 0) parts.push_back({part_of(text, span), std::nullopt});
  }

 private:
  int64_t length_;
};

SplitBehavior read_behavior(const nlohmann::json& json, const std::string& file) {
  const auto name = get<std::string>(json, "behavior", file);
  if (name == "Removed") return SplitBehavior::removed;
  if (name == "Isolated") return SplitBehavior::isolated;
  if (name == "MergedWithPrevious") return SplitBehavior::merged_with_previous;
  if (name == "MergedWithNext") return SplitBehavior::merged_with_next;
  if (name == "Contiguous") return SplitBehavior::contiguous;
  fail(
      "{}: behavior is {}, expected Removed, Isolated, MergedWithPrevious, MergedWithNext or "
      "Contiguous",
      file, excerpt(json["behavior"]));
}

std::unique_ptr<PreTokenizer> read_split(const nlohmann::json& json, const std::string& file) {
  return make_split(read_pattern(json, file), read_behavior(json, file),
                    get<bool>(json, "invert", file));
}

std::unique_ptr<PreTokenizer> read_punctuation(const nlohmann::json& json,
                                               const std::string& file) {
  const auto behavior =
      json.contains("behavior") ? read_behavior(json, file) : SplitBehavior::isolated;
  return std::make_unique<CodePointSplit>(is_punctuation, behavior);
}

std::unique_ptr<PreTokenizer> read_digits(const nlohmann::json& json, const std::string& file) {
  const bool single = get<bool>(json, "individual_digits", file);
  return std::make_unique<CodePointSplit>(
      is_numeric, single ? SplitBehavior::isolated : SplitBehavior::contiguous);
}

std::unique_ptr<PreTokenizer> read_fixed_length(const nlohmann::json& json,
                                                const std::string& file) {
  const auto length = get_or<int64_t>(json, "length", 5, file);
  require(length > 0, "{}: length is {}, expected at least 1", file, length);
  return std::make_unique<FixedLength>(length);
}

std::unique_ptr<PreTokenizer> read_byte_level(const nlohmann::json& json, const std::string& file) {
  return make_byte_level(
      {get<bool>(json, "add_prefix_space", file), get_or<bool>(json, "use_regex", true, file)});
}

}  // namespace

void PieceSplitter::apply(TextPieces& pieces, size_t max_size) const {
  TextPieces parts;
  parts.reserve(pieces.size());
  size_t size = 0;
  for (TextPiece& piece : pieces) {
    if (piece.token) {
      parts.push_back(std::move(piece));
      continue;
    }
    if (piece.text.text.empty()) continue;
    const size_t first = parts.size();
    split(std::move(piece.text), parts);
    for (size_t i = first; i < parts.size(); ++i) size += parts[i].text.text.size();
    check_text_size(size, max_size);
  }
  pieces = std::move(parts);
}

std::unique_ptr<PreTokenizer> make_sequence(std::vector<std::unique_ptr<PreTokenizer>> parts) {
  return std::make_unique<PreTokenizerSequence>(std::move(parts));
}

std::unique_ptr<PreTokenizer> make_split(Regex pattern, SplitBehavior behavior, bool invert) {
  return std::make_unique<Split>(std::move(pattern), behavior, invert);
}

std::unique_ptr<PreTokenizer> make_bert_pre_tokenizer() {
  std::vector<std::unique_ptr<PreTokenizer>> parts;
  parts.push_back(std::make_unique<CodePointSplit>(is_white_space, SplitBehavior::removed));
  parts.push_back(std::make_unique<CodePointSplit>(is_punctuation, SplitBehavior::isolated));
  return make_sequence(std::move(parts));
}

std::unique_ptr<PreTokenizer> read_pre_tokenizer(const nlohmann::json& json,
                                                 const std::string& file) {
  const auto type = get<std::string>(json, "type", file);
  if (type == "Sequence")
    return make_sequence(read_steps(json, "pretokenizers", file, read_pre_tokenizer));
  if (type == "Split") return read_split(json, file);
  if (type == "ByteLevel") return read_byte_level(json, file);
  if (type == "Metaspace") return make_metaspace(read_metaspace_options(json, file));
  if (type == "BertPreTokenizer") return make_bert_pre_tokenizer();
  if (type == "Whitespace") return std::make_unique<Whitespace>();
  if (type == "WhitespaceSplit")
    return std::make_unique<CodePointSplit>(is_white_space, SplitBehavior::removed);
  if (type == "Punctuation") return read_punctuation(json, file);
  if (type == "Digits") return read_digits(json, file);
  if (type == "FixedLength") return read_fixed_length(json, file);
  if (type == "CharDelimiterSplit")
    return std::make_unique<CharacterDelimiter>(read_character(json, "delimiter", file));
  fail("{}: the pre-tokenizer {} is not known", file, excerpt(json["type"]));
}

}  // namespace heed::text

#include "heed/text/normalizers/normalizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/byte_alphabet.h"
#include "heed/text/files/read_steps.h"
#include "heed/text/normalizers/map_text.h"
#include "heed/text/text_size.h"
#include "heed/text/unicode/normal_forms.h"
#include "heed/text/unicode/properties.h"

namespace heed::text {
namespace {

class NormalizerSequence : public Normalizer {
 public:
  explicit NormalizerSequence(std::vector<std::unique_ptr<Normalizer>> parts)
      : parts_(std::move(parts)) {}
  void change(NormalizedText& text, size_t max_size) const override {
    for (const auto& part : parts_) part->apply(text, max_size);
  }

 private:
  std::vector<std::unique_ptr<Normalizer>> parts_;
};

class UnicodeForm : public Normalizer {
 public:
  explicit UnicodeForm(NormalForm form) : form_(form) {}
  void change(NormalizedText& text, size_t) const override { change_form(text, form_); }

 private:
  NormalForm form_;
};

class Lowercase : public Normalizer {
 public:
  void change(NormalizedText& text, size_t) const override {
    map_text(text, [](char32_t value, std::string_view, std::string& result) {
      append_lower_case(result, value);
    });
  }
};

class StripAccents : public Normalizer {
 public:
  void change(NormalizedText& text, size_t) const override {
    map_text(text, [](char32_t value, std::string_view bytes, std::string& result) {
      if (!is_combining_mark(value)) result += bytes;
    });
  }
};

class StripNormalizer : public Normalizer {
 public:
  StripNormalizer(bool left, bool right) : left_(left), right_(right) {}
  void change(NormalizedText& text, size_t) const override {
    // Begin of the first and end of the last code point that is not white space.
    size_t begin = text.text.size(), end = 0, position = 0;
    for_each_code_point(text.text, [&](const CodePoint& point, std::string_view bytes) {
      if (!is_white_space(point.value)) {
        begin = std::min(begin, position);
        end = position + bytes.size();
      }
      position += bytes.size();
    });
    if (!right_) end = text.text.size();
    if (!left_) begin = 0;
    text = part_of(text, {std::min(begin, end), end});
  }

 private:
  bool left_, right_;
};

/// The additions of SentencePiece's rule set "nmt" to a Unicode normal form.
class Nmt : public Normalizer {
 public:
  void change(NormalizedText& text, size_t) const override {
    map_text(text, [](char32_t value, std::string_view bytes, std::string& result) {
      if (is_removed(value)) return;
      if (is_space(value))
        result.push_back(' ');
      else
        result += bytes;
    });
  }

 private:
  static bool is_removed(char32_t value) {
    return (value >= 1 && value <= 8) || value == 0xB || (value >= 0xE && value <= 0x1F) ||
           value == 0x7F || value == 0x8F || value == 0x9F;
  }
  static bool is_space(char32_t value) {
    return value == '\t' || value == '\n' || value == '\f' || value == '\r' || value == 0x1680 ||
           (value >= 0x200B && value <= 0x200F) || value == 0x2028 || value == 0x2029 ||
           value == 0x2581 || value == 0xFEFF || value == 0xFFFD;
  }
};

class PrependNormalizer : public Normalizer {
 public:
  explicit PrependNormalizer(std::string text) : prefix_(std::move(text)) {}
  void change(NormalizedText& text, size_t max_size) const override {
    if (text.text.empty()) return;
    check_text_size(text.text.size() + prefix_.size(), max_size);
    prepend(prefix_, text);
  }

 private:
  std::string prefix_;
};

class ByteLevelNormalizer : public Normalizer {
 public:
  void change(NormalizedText& text, size_t) const override {
    map_text(text, [](char32_t, std::string_view bytes, std::string& result) {
      append_byte_characters(result, bytes);
    });
  }
};

}  // namespace

void change_form(NormalizedText& text, NormalForm form) {
  std::vector<size_t> sources;
  const bool aligned = !text.alignments.empty();
  text.text = normal_form(text.text, form, text.at_start, aligned ? &sources : nullptr);
  if (!aligned) return;
  std::vector<TextSpan> alignments;
  for (const size_t source : sources) alignments.push_back(text.alignments[source]);
  text.alignments = std::move(alignments);
}

NormalizedText part_of(const NormalizedText& text, TextSpan span) {
  const size_t at_start = std::min(text.at_start, span.end);
  NormalizedText part{text.text.substr(span.begin, span.end - span.begin),
                      at_start - std::min(at_start, span.begin)};
  if (!text.alignments.empty())
    part.alignments.assign(text.alignments.begin() + static_cast<std::ptrdiff_t>(span.begin),
                           text.alignments.begin() + static_cast<std::ptrdiff_t>(span.end));
  return part;
}

void prepend(std::string_view prefix, NormalizedText& text) {
  text.text.insert(0, prefix);
  if (text.at_start > 0) text.at_start += prefix.size();
  if (text.alignments.empty()) return;
  const TextSpan first = text.alignments.front();
  text.alignments.insert(text.alignments.begin(), prefix.size(), first);
}

void Normalizer::apply(NormalizedText& text, size_t max_size) const {
  change(text, max_size);
  check_text_size(text.text.size(), max_size);
}

std::unique_ptr<Normalizer> make_sequence(std::vector<std::unique_ptr<Normalizer>> parts) {
  return std::make_unique<NormalizerSequence>(std::move(parts));
}

std::unique_ptr<Normalizer> make_prepend(std::string text) {
  return std::make_unique<PrependNormalizer>(std::move(text));
}

std::unique_ptr<Normalizer> make_unicode_form(NormalForm form) {
  return std::make_unique<UnicodeForm>(form);
}

std::unique_ptr<Normalizer> read_normalizer(const nlohmann::json& json, const std::string& file) {
  const auto type = get<std::string>(json, "type", file);
  if (type == "Sequence")
    return make_sequence(read_steps(json, "normalizers", file, read_normalizer));
  if (type == "NFC") return make_unicode_form(NormalForm::nfc);
  if (type == "NFD") return make_unicode_form(NormalForm::nfd);
  if (type == "NFKC") return make_unicode_form(NormalForm::nfkc);
  if (type == "NFKD") return make_unicode_form(NormalForm::nfkd);
  if (type == "Lowercase") return std::make_unique<Lowercase>();
  if (type == "StripAccents") return std::make_unique<StripAccents>();
  if (type == "Strip")
    return std::make_unique<StripNormalizer>(get<bool>(json, "strip_left", file),
                                             get<bool>(json, "strip_right", file));
  if (type == "Nmt") return std::make_unique<Nmt>();
  if (type == "Prepend") return make_prepend(get<std::string>(json, "prepend", file));
  if (type == "ByteLevel") return std::make_unique<ByteLevelNormalizer>();
  if (type == "BertNormalizer") return read_bert_normalizer(json, file);
  if (type == "Precompiled") return read_precompiled(json, file);
  if (type == "Replace") return read_replace(json, file);
  fail("{}: the normalizer {} is not known", file, excerpt(json["type"]));
}

}  // namespace heed::text

#include "heed/base/json.h"

#include <nlohmann/json.hpp>
#include "heed/text/normalizers/map_text.h"
#include "heed/text/normalizers/normalizer.h"
#include "heed/text/unicode/properties.h"

namespace heed::text {
namespace {

/// The blocks that BERT surrounds with spaces.
bool is_chinese(char32_t value) {
  return (value >= 0x4E00 && value <= 0x9FFF) || (value >= 0x3400 && value <= 0x4DBF) ||
         (value >= 0x20000 && value <= 0x2A6DF) || (value >= 0x2A700 && value <= 0x2B73F) ||
         (value >= 0x2B740 && value <= 0x2B81F) || (value >= 0x2B920 && value <= 0x2CEAF) ||
         (value >= 0xF900 && value <= 0xFAFF) || (value >= 0x2F800 && value <= 0x2FA1F);
}

class BertNormalizer : public Normalizer {
 public:
  explicit BertNormalizer(const BertNormalizerOptions& options) : options_(options) {}

  void change(NormalizedText& text, size_t) const override {
    if (options_.clean_text) map_text(text, clean);
    if (options_.chinese) map_text(text, surround);
    if (options_.strip_accents) {
      change_form(text, NormalForm::nfd);
      map_text(text, strip_accent);
    }
    if (options_.lowercase) map_text(text, lower);
  }

 private:
  static void clean(char32_t value, std::string_view bytes, std::string& result) {
    if (value == 0 || value == CodePoint::kReplacement || is_control(value)) return;
    if (is_white_space(value))
      result.push_back(' ');
    else
      result += bytes;
  }
  static void surround(char32_t value, std::string_view bytes, std::string& result) {
    if (is_chinese(value)) result.push_back(' ');
    result += bytes;
    if (is_chinese(value)) result.push_back(' ');
  }
  static void strip_accent(char32_t value, std::string_view bytes, std::string& result) {
    if (!is_nonspacing_mark(value)) result += bytes;
  }
  static void lower(char32_t value, std::string_view, std::string& result) {
    append_lower_case(result, value);
  }

  BertNormalizerOptions options_;
};

}  // namespace

std::unique_ptr<Normalizer> make_bert_normalizer(const BertNormalizerOptions& options) {
  return std::make_unique<BertNormalizer>(options);
}

std::unique_ptr<Normalizer> read_bert_normalizer(const nlohmann::json& json,
                                                 const std::string& file) {
  BertNormalizerOptions options;
  options.clean_text = get<bool>(json, "clean_text", file);
  options.chinese = get<bool>(json, "handle_chinese_chars", file);
  options.lowercase = get<bool>(json, "lowercase", file);
  options.strip_accents = get_or<bool>(json, "strip_accents", options.lowercase, file);
  return make_bert_normalizer(options);
}

}  // namespace heed::text

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/json.h"
#include "heed/text/normalizers/normalizer.h"
#include "heed/text/regex/pattern.h"
#include "heed/text/text_size.h"

namespace heed::text {
namespace {

class ReplaceNormalizer : public Normalizer {
 public:
  ReplaceNormalizer(Regex pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void change(NormalizedText& text, size_t max_size) const override {
    if (text.text.empty()) return;
    std::string result;
    size_t position = 0, at_start = 0;
    const auto keep_until = [&](size_t end) {
      if (position < text.at_start)
        at_start = result.size() + std::min(end, text.at_start) - position;
      result.append(text.text, position, end - position);
      position = end;
    };
    pattern_.for_each_match(text.text, [&](TextSpan match) {
      keep_until(match.begin);
      result += content_;
      check_text_size(result.size(), max_size);
      // The replacement counts as coming from the last code point that it replaces.
      if (match.end <= text.at_start && text.at_start > 0) at_start = result.size();
      position = match.end;
    });
    keep_until(text.text.size());
    text = {std::move(result), at_start};
  }

 private:
  Regex pattern_;
  std::string content_;
};

}  // namespace

std::unique_ptr<Normalizer> make_replace(Regex pattern, std::string content) {
  return std::make_unique<ReplaceNormalizer>(std::move(pattern), std::move(content));
}

std::unique_ptr<Normalizer> read_replace(const nlohmann::json& json, const std::string& file) {
  return make_replace(read_pattern(json, file), get<std::string>(json, "content", file));
}

}  // namespace heed::text

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
    NormalizedText result;
    size_t position = 0;
    const auto keep_until = [&](size_t end) {
      const NormalizedText kept = part_of(text, {position, end});
      if (position < text.at_start) result.at_start = result.text.size() + kept.at_start;
      result.text += kept.text;
      result.alignments.insert(result.alignments.end(), kept.alignments.begin(),
                               kept.alignments.end());
      position = end;
    };
    pattern_.for_each_match(text.text, [&](TextSpan match) {
      keep_until(match.begin);
      result.text += content_;
      check_text_size(result.text.size(), max_size);
      // The replacement counts as coming from the last code point that it replaces.
      take_alignment(text, std::max<size_t>(match.end, 1) - 1, result);
      if (match.end <= text.at_start && text.at_start > 0) result.at_start = result.text.size();
      position = match.end;
    });
    keep_until(text.text.size());
    text = std::move(result);
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

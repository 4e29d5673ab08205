#include "heed/text/byte_alphabet.h"
#include "heed/text/normalizers/map_text.h"
#include "heed/text/pre_tokenizers/named_patterns.h"
#include "heed/text/pre_tokenizers/split_text.h"

namespace heed::text {
namespace {

class ByteLevelPreTokenizer : public PieceSplitter {
 public:
  explicit ByteLevelPreTokenizer(const ByteLevelOptions& options) : options_(options) {}

 protected:
  void split(NormalizedText&& text, TextPieces& parts) const override {
    static const Regex gpt2(named_split("gpt-2", "").patterns.front(), "GPT-2");
    if (options_.add_prefix_space && text.text.front() != ' ') prepend(" ", text);
    const size_t first = parts.size();
    if (options_.use_regex)
      split_text(text, mark_all(gpt2.find_all(text.text), text.text.size()),
                 SplitBehavior::isolated, parts);
    else
      parts.push_back({std::move(text), std::nullopt});
    for (size_t i = first; i < parts.size(); ++i)
      map_text(parts[i].text, [](char32_t, std::string_view bytes, std::string& result) {
        append_byte_characters(result, bytes);
      });
  }

 private:
  ByteLevelOptions options_;
};

}  // namespace

std::unique_ptr<PreTokenizer> make_byte_level(const ByteLevelOptions& options) {
  return std::make_unique<ByteLevelPreTokenizer>(options);
}

}  // namespace heed::text

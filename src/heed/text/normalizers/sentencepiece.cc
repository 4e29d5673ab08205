#include <algorithm>
#include <optional>

#include "heed/text/charsmap.h"
#include "heed/text/files/sentencepiece_proto.h"
#include "heed/text/models/sentencepiece_model.h"
#include "heed/text/normalizers/normalizer.h"
#include "heed/text/piece_automaton.h"
#include "heed/text/step_check.h"
#include "heed/text/text_size.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

constexpr std::string_view kSpaceMark = "\u2581";

/// The normalisation of the SentencePiece library, which its segmentation expects.
class SentencePieceNormalizer : public Normalizer {
 public:
  SentencePieceNormalizer(const SentencePieceProto& proto, const std::string& name)
      : user_defined_(user_defined_pieces(proto)),
        prefix_(proto.add_dummy_prefix && !proto.treat_whitespace_as_suffix),
        suffix_(proto.add_dummy_prefix && proto.treat_whitespace_as_suffix),
        remove_extra_(proto.remove_extra_whitespaces),
        space_(proto.escape_whitespaces ? kSpaceMark : " ") {
    if (!proto.charsmap.empty()) map_.emplace(proto.charsmap, name);
  }

 private:
  /// What the text at one place becomes.
  struct Step {
    std::string_view written;
    size_t size;  // of the text that it replaces
  };

  void change(NormalizedText& text, size_t max_size) const override {
    const std::string_view all = text.text;
    const LongestPieces user_defined(user_defined_, all);
    size_t begin = 0;
    while (remove_extra_ && begin < all.size()) {
      const Step step = step_at(all, begin, user_defined);
      if (step.written != " ") break;
      begin += step.size;
    }
    NormalizedText result;
    if (begin < all.size()) {
      result.text.reserve(all.size() + all.size() / 2);
      if (prefix_) result.text += space_;
      take_alignment(text, begin, result);
      write_rest(text, begin, user_defined, max_size, result);
    }
    text = std::move(result);
  }

  void write_rest(const NormalizedText& text, size_t begin, const LongestPieces& user_defined,
                  size_t max_size, NormalizedText& result) const {
    const std::string_view all = text.text;
    bool after_space = remove_extra_;
    for (StepCheck check; begin < all.size(); check.step()) {
      const bool of_start = begin < text.at_start;
      auto [written, size] = step_at(all, begin, user_defined);
      while (after_space && written.starts_with(' ')) written.remove_prefix(1);
      for (const char byte : written)
        if (byte == ' ')
          result.text += space_;
        else
          result.text += byte;
      check_text_size(result.text.size(), max_size);
      take_alignment(text, begin, result);
      if (!written.empty()) after_space = remove_extra_ && written.ends_with(' ');
      if (of_start) result.at_start = result.text.size();
      begin += size;
    }
    while (remove_extra_ && result.text.ends_with(space_))
      result.text.resize(result.text.size() - space_.size());
    if (!result.alignments.empty()) result.alignments.resize(result.text.size());
    if (suffix_) result.text += space_;
    take_alignment(text, all.size() - 1, result);
    result.at_start = std::min(result.at_start, result.text.size());
  }

  Step step_at(std::string_view all, size_t begin, const LongestPieces& user_defined) const {
    if (const size_t size = user_defined.size_at(begin)) return {all.substr(begin, size), size};
    if (map_)
      if (const auto match = map_->longest(all.substr(begin)))
        return {match->replacement, match->size};
    // A key may end inside a code point.
    const CodePoint point = code_point_at(all, begin);
    if (!point.valid) return {"\uFFFD", 1};
    return {all.substr(begin, point.length), point.length};
  }

  PieceAutomaton user_defined_;
  std::optional<Charsmap> map_;
  bool prefix_, suffix_, remove_extra_;
  std::string_view space_;
};

}  // namespace

std::unique_ptr<Normalizer> make_sentencepiece_normalizer(const SentencePieceProto& proto,
                                                          const std::string& name) {
  return std::make_unique<SentencePieceNormalizer>(proto, name);
}

}  // namespace heed::text

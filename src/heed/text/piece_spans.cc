#include "heed/text/piece_spans.h"

#include <algorithm>

#include "heed/text/utf8.h"

namespace heed::text {
namespace {

std::string_view letters_of(const TokenizerModel& model, std::span<const int32_t> ids, size_t i) {
  const std::string* const piece = model.vocabulary().piece(ids[i]);
  return piece == nullptr ? std::string_view() : model.letters_of(*piece, i == 0);
}

/// How many of the first bytes of `rest` a known piece stands for; 0 for an unknown one.
size_t known_size(std::string_view rest, std::string_view letters) {
  if (rest.empty() || letters.empty()) return 0;
  if (rest.starts_with(letters)) return letters.size();
  return letters == byte_piece(static_cast<uint8_t>(rest.front())) ? 1 : 0;
}

/// Gives each run of byte pieces one span.
void join_bytes(const TokenizerModel& model, std::span<const int32_t> ids,
                std::vector<TextSpan>& spans) {
  const auto is_byte = [&](size_t i) {
    const std::string_view piece = letters_of(model, ids, i);
    return piece.size() == byte_piece(0).size() && piece.starts_with("<0x");
  };
  for (size_t begin = 0, end = 0; begin < ids.size(); begin = end) {
    end = begin + 1;
    if (!is_byte(begin)) continue;
    while (end < ids.size() && is_byte(end)) ++end;
    const TextSpan run{spans[begin].begin, spans[end - 1].end};
    std::fill(spans.begin() + static_cast<std::ptrdiff_t>(begin),
              spans.begin() + static_cast<std::ptrdiff_t>(end), run);
  }
}

}  // namespace

std::vector<TextSpan> piece_spans(const TokenizerModel& model, std::string_view word,
                                  std::span<const int32_t> ids) {
  std::vector<TextSpan> spans;
  size_t begin = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string_view rest = word.substr(begin);
    size_t size = known_size(rest, letters_of(model, ids, i));
    if (size == 0 && !rest.empty()) {
      const bool last = i + 1 == ids.size();
      size = last ? rest.size() : code_point_at(rest, 0).length;
      // Fused unknown letters.
      if (!last && ids[i + 1] != ids[i])
        while (size < rest.size() &&
               known_size(rest.substr(size), letters_of(model, ids, i + 1)) == 0)
          size += code_point_at(rest, size).length;
    }
    spans.push_back({begin, begin + size});
    begin += size;
  }
  if (model.joins_bytes()) join_bytes(model, ids, spans);
  return spans;
}

}  // namespace heed::text

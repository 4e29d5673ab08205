#include "heed/text/piece_spans.h"

#include <algorithm>

#include "heed/text/utf8.h"

namespace heed::text {
namespace {

std::string_view text_of(const TokenizerModel& model, std::span<const int32_t> ids, size_t i) {
  const std::string* const piece = model.vocabulary().piece(ids[i]);
  return piece == nullptr ? std::string_view() : model.text_of(*piece, i == 0);
}

/// What a known piece stands for.
struct KnownPiece {
  size_t size = 0;  // of the first bytes of the rest; 0 for an unknown piece
  bool byte = false;
};

/// A byte piece stands for a byte, or in a model that spells bytes for its own name.
KnownPiece known_piece(const TokenizerModel& model, std::string_view rest,
                       std::string_view characters) {
  if (rest.empty() || characters.empty()) return {};
  const bool byte = characters == byte_piece(static_cast<uint8_t>(rest.front()));
  if (byte && !(model.spells_bytes() && rest.starts_with(characters))) return {1, true};
  return {rest.starts_with(characters) ? characters.size() : 0};
}

/// Gives each run of byte pieces one span.
void join_bytes(const std::vector<bool>& is_byte, std::vector<TextSpan>& spans) {
  for (size_t begin = 0, end = 0; begin < spans.size(); begin = end) {
    end = begin + 1;
    if (!is_byte[begin]) continue;
    while (end < spans.size() && is_byte[end]) ++end;
    const TextSpan run{spans[begin].begin, spans[end - 1].end};
    std::fill(spans.begin() + static_cast<std::ptrdiff_t>(begin),
              spans.begin() + static_cast<std::ptrdiff_t>(end), run);
  }
}

}  // namespace

std::vector<TextSpan> piece_spans(const TokenizerModel& model, std::string_view word,
                                  std::span<const int32_t> ids) {
  std::vector<TextSpan> spans;
  std::vector<bool> is_byte;
  size_t begin = 0;
  for (size_t i = 0; i < ids.size(); ++i) {
    const std::string_view rest = word.substr(begin);
    const KnownPiece known = known_piece(model, rest, text_of(model, ids, i));
    size_t size = known.size;
    if (size == 0 && !rest.empty()) {
      const bool last = i + 1 == ids.size();
      size = last ? rest.size() : code_point_at(rest, 0).length;
      // Fused unknown characters.
      if (!last && ids[i + 1] != ids[i])
        while (size < rest.size() &&
               known_piece(model, rest.substr(size), text_of(model, ids, i + 1)).size == 0)
          size += code_point_at(rest, size).length;
    }
    spans.push_back({begin, begin + size});
    is_byte.push_back(known.byte);
    begin += size;
  }
  if (model.joins_bytes()) join_bytes(is_byte, spans);
  return spans;
}

}  // namespace heed::text

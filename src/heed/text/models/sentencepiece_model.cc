#include "heed/text/models/sentencepiece_model.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/text/models/best_paths.h"
#include "heed/text/step_check.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

using Proto = SentencePieceProto;

bool is_text_piece(const Proto::Piece& piece) {
  return piece.type == Proto::normal || piece.type == Proto::user_defined ||
         piece.type == Proto::unused;
}

/// Like PieceToId() of the library, which looks among control pieces first.
Vocabulary all_pieces(const Proto& proto) {
  Vocabulary vocabulary;
  vocabulary.reserve(proto.pieces.size());
  for (const bool of_text : {true, false})
    for (size_t id = 0; id < proto.pieces.size(); ++id)
      if (is_text_piece(proto.pieces[id]) == of_text)
        vocabulary.add(proto.pieces[id].text, static_cast<int32_t>(id));
  return vocabulary;
}

/// The most probable segmentation (Kudo, 2018).
class UnigramPieces : public SentencePieceModel {
 public:
  explicit UnigramPieces(const Proto& proto)
      : SentencePieceModel(proto), automaton_(usable_pieces(proto)) {
    // As the library has it: no score is greater than this to begin with.
    float greatest = std::numeric_limits<float>::min();
    float least = std::numeric_limits<float>::max();
    for (const Proto::Piece& piece : proto.pieces) {
      if (piece.type != Proto::normal) continue;
      least = std::min(least, piece.score);
      greatest = std::max(greatest, piece.score);
    }
    constexpr float kUnknownPenalty = 10;
    unknown_score_ = least - kUnknownPenalty;
    for (const Proto::Piece& piece : proto.pieces)
      scores_.push_back(
          piece.type == Proto::user_defined
              ? static_cast<double>(static_cast<float>(piece.text.size()) * greatest) - 0.1
              : static_cast<double>(piece.score));
  }

 private:
  static std::vector<PieceAutomaton::Piece> usable_pieces(const Proto& proto) {
    std::vector<PieceAutomaton::Piece> pieces;
    for (size_t id = 0; id < proto.pieces.size(); ++id)
      if (is_text_piece(proto.pieces[id]) && proto.pieces[id].type != Proto::unused)
        pieces.push_back({proto.pieces[id].text, static_cast<int32_t>(id)});
    return pieces;
  }

  std::vector<SentencePiecePart> segment(std::string_view normalized) const override {
    const auto best =
        best_paths(normalized, automaton_, scores_, unknown_score_, [this] { return unknown(); });
    std::vector<SentencePiecePart> parts;
    for (size_t end = normalized.size(); end > 0; end = best[end].begin)
      parts.push_back({normalized.substr(best[end].begin, end - best[end].begin), best[end].id});
    std::reverse(parts.begin(), parts.end());
    return parts;
  }

  std::vector<double> scores_;
  float unknown_score_ = 0;  // and sums are rounded to float, as the library rounds them
  PieceAutomaton automaton_;
};

/// Cuts a text into user-defined pieces and code points; visit(part, is_user_defined).
template <typename Visit>
void for_each_symbol(std::string_view text, const PieceAutomaton& user_defined, Visit&& visit) {
  const LongestPieces longest(user_defined, text);
  for (size_t begin = 0, size; begin < text.size(); begin += size) {
    const size_t whole = longest.size_at(begin);
    size = whole > 0 ? whole : code_point_at(text, begin).length;
    visit(text.substr(begin, size), whole > 0);
  }
}

/// Merges neighbours whose concatenation is a piece, the one with the highest score first, and of
/// equal ones the leftmost.
class BpePieces : public SentencePieceModel {
 public:
  explicit BpePieces(const Proto& proto)
      : SentencePieceModel(proto), user_defined_(user_defined_pieces(proto)) {
    for (const Proto::Piece& piece : proto.pieces) {
      scores_.push_back(piece.score);
      unused_.push_back(piece.type == Proto::unused);
      longest_ = std::max(longest_, piece.text.size());
    }
  }

 private:
  struct Symbol {
    std::string_view text;  // empty: merged into another
    int32_t previous, next;
    bool frozen;
  };
  struct Candidate {
    float score;
    int32_t left, right;
    size_t size;
    bool operator<(const Candidate& other) const {  // the greatest is the top of the heap
      return score != other.score ? score < other.score : left > other.left;
    }
  };
  /// The parts that an unused piece was merged from; it is split into them again.
  using UnusedMerges = std::unordered_map<int32_t, std::pair<std::string_view, std::string_view>>;

  /// One text that is being merged.
  struct Merger {
    std::vector<Symbol> symbols;
    std::vector<Candidate> heap;
    UnusedMerges unused_merges;

    Symbol& at(int32_t i) { return symbols[static_cast<size_t>(i)]; }
  };

  void offer(Merger& merger, int32_t left, int32_t right) const {
    if (left < 0 || right < 0) return;
    const Symbol &a = merger.at(left), &b = merger.at(right);
    const std::string_view both(a.text.data(), a.text.size() + b.text.size());
    if (a.frozen || b.frozen || both.size() > longest_) return;
    const int32_t id = text_piece(both);
    if (id < 0) return;
    merger.heap.push_back({scores_[static_cast<size_t>(id)], left, right, both.size()});
    std::push_heap(merger.heap.begin(), merger.heap.end());
    if (unused_[static_cast<size_t>(id)]) merger.unused_merges[id] = {a.text, b.text};
  }

  void merge(Merger& merger, const Candidate& best) const {
    Symbol &left = merger.at(best.left), &right = merger.at(best.right);
    if (left.text.empty() || right.text.empty() ||
        left.text.size() + right.text.size() != best.size)
      return;
    left.text = {left.text.data(), best.size};
    left.next = right.next;
    if (right.next >= 0) merger.at(right.next).previous = best.left;
    right.text = {};
    offer(merger, left.previous, best.left);
    offer(merger, best.left, left.next);
  }

  void add_used(const UnusedMerges& unused_merges, std::string_view text,
                std::vector<SentencePiecePart>& parts) const {
    const int32_t id = number_of(text);
    const auto merged_from =
        unused_[static_cast<size_t>(id)] ? unused_merges.find(id) : unused_merges.end();
    if (merged_from == unused_merges.end()) {
      parts.push_back({text, id});
      return;
    }
    // Views of the text where the piece was merged; it may be another place.
    const size_t left = merged_from->second.first.size();
    add_used(unused_merges, text.substr(0, left), parts);
    add_used(unused_merges, text.substr(left), parts);
  }

  std::vector<SentencePiecePart> segment(std::string_view normalized) const override {
    require_input(normalized.size() < std::numeric_limits<int32_t>::max(), "a text is too long");
    Merger merger;
    for_each_symbol(normalized, user_defined_, [&](std::string_view symbol, bool whole) {
      const auto place = static_cast<int32_t>(merger.symbols.size());
      if (place > 0) merger.symbols.back().next = place;
      merger.symbols.push_back({symbol, place - 1, -1, whole});
    });
    const auto count = static_cast<int32_t>(merger.symbols.size());
    for (int32_t i = 1; i < count; ++i) offer(merger, i - 1, i);
    for (StepCheck check; !merger.heap.empty(); check.step()) {
      std::pop_heap(merger.heap.begin(), merger.heap.end());
      const Candidate best = merger.heap.back();
      merger.heap.pop_back();
      merge(merger, best);
    }
    std::vector<SentencePiecePart> parts;
    for (const Symbol& symbol : merger.symbols)
      if (!symbol.text.empty()) add_used(merger.unused_merges, symbol.text, parts);
    return parts;
  }

  PieceAutomaton user_defined_;
  std::vector<float> scores_;
  std::vector<bool> unused_;
  size_t longest_ = 0;
};

/// Each code point is a piece.
class CharacterPieces : public SentencePieceModel {
 public:
  explicit CharacterPieces(const Proto& proto)
      : SentencePieceModel(proto), user_defined_(user_defined_pieces(proto)) {}

 private:
  std::vector<SentencePiecePart> segment(std::string_view normalized) const override {
    std::vector<SentencePiecePart> parts;
    for_each_symbol(normalized, user_defined_, [&](std::string_view symbol, bool) {
      parts.push_back({symbol, number_of(symbol)});
    });
    return parts;
  }

  PieceAutomaton user_defined_;
};

/// Each word is a piece; it begins at a marked space.
class WordPieces : public SentencePieceModel {
 public:
  using SentencePieceModel::SentencePieceModel;

 private:
  std::vector<SentencePiecePart> segment(std::string_view normalized) const override {
    constexpr std::string_view kSpace = "\u2581";
    std::vector<SentencePiecePart> parts;
    for (size_t begin = 0; begin < normalized.size();) {
      const size_t end = std::min(normalized.find(kSpace, begin + 1), normalized.size());
      const std::string_view word = normalized.substr(begin, end - begin);
      parts.push_back({word, number_of(word)});
      begin = end;
    }
    return parts;
  }
};

}  // namespace

SentencePieceModel::SentencePieceModel(const Proto& proto)
    : TokenizerModel(all_pieces(proto)),
      byte_fallback_(proto.byte_fallback),
      unigram_(proto.kind == Proto::Kind::unigram) {
  for (size_t id = 0; id < proto.pieces.size(); ++id) {
    const Proto::Piece& piece = proto.pieces[id];
    if (piece.type == Proto::unknown) unknown_ = static_cast<int32_t>(id);
    if (is_text_piece(piece)) texts_.add(piece.text, static_cast<int32_t>(id));
    is_control_.push_back(piece.type == Proto::control);
  }
}

int32_t SentencePieceModel::number_of(std::string_view piece) const {
  // The library has no result for a text that is, as a whole word, the name of a control piece.
  const int32_t id = vocabulary().find(piece).value_or(unknown_);
  return is_control_[static_cast<size_t>(id)] ? unknown_ : id;
}

std::vector<SentencePiecePart> SentencePieceModel::parts_of(std::string_view normalized) const {
  std::vector<SentencePiecePart> parts;
  if (normalized.empty()) return parts;
  for (const SentencePiecePart& part : segment(normalized)) {
    const bool joins =
        !byte_fallback_ && is_unknown(part.id) && !parts.empty() && is_unknown(parts.back().id);
    if (joins)
      parts.back().text = {parts.back().text.data(), parts.back().text.size() + part.text.size()};
    else
      parts.push_back(part);
  }
  return parts;
}

void SentencePieceModel::tokenize(std::string_view word, std::vector<int32_t>& ids) const {
  for (const SentencePiecePart& part : parts_of(word)) {
    if (!byte_fallback_ || !is_unknown(part.id)) {
      ids.push_back(part.id);
      continue;
    }
    for (const char byte : part.text)
      ids.push_back(number_of(byte_piece(static_cast<uint8_t>(byte))));
  }
}

std::unique_ptr<SentencePieceModel> make_sentencepiece_model(const Proto& proto,
                                                             const std::string& name) {
  std::unordered_set<std::string_view> texts, others;
  int unknown = 0;
  for (const Proto::Piece& piece : proto.pieces) {
    if (piece.text.empty() || !(is_text_piece(piece) ? texts : others).insert(piece.text).second)
      fail("{} is not a usable SentencePiece model: the piece {} occurs twice or is empty", name,
           quoted(piece.text));
    unknown += piece.type == Proto::unknown ? 1 : 0;
  }
  require(unknown == 1, "{} is not a usable SentencePiece model: it has {} unknown pieces", name,
          unknown);
  switch (proto.kind) {
    case Proto::Kind::unigram:
      return std::make_unique<UnigramPieces>(proto);
    case Proto::Kind::bpe:
      return std::make_unique<BpePieces>(proto);
    case Proto::Kind::word:
      return std::make_unique<WordPieces>(proto);
    case Proto::Kind::character:
      return std::make_unique<CharacterPieces>(proto);
  }
  return nullptr;
}

PieceAutomaton user_defined_pieces(const Proto& proto) {
  std::vector<PieceAutomaton::Piece> pieces;
  for (size_t id = 0; id < proto.pieces.size(); ++id)
    if (proto.pieces[id].type == Proto::user_defined)
      pieces.push_back({proto.pieces[id].text, static_cast<int32_t>(id)});
  return PieceAutomaton::backward(pieces);
}

LongestPieces::LongestPieces(const PieceAutomaton& backward, std::string_view text) {
  if (backward.empty()) return;
  sizes_.resize(text.size());
  backward.for_each_longest(text, 0, [&](size_t begin, size_t size, int32_t) {
    sizes_[begin] = static_cast<uint32_t>(size);
  });
}

}  // namespace heed::text

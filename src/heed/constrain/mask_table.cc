#include "heed/constrain/mask_table.h"

#include <algorithm>
#include <bit>

namespace heed::constrain {
namespace {

constexpr size_t kMaxMemory = size_t{16} << 20;
// Nodes of a tree that are walked within a lexeme in the time of a step of Expressions, and words
// of a mask that are joined.
constexpr size_t kNodesOfStep = 8, kWordsOfStep = 128;

}  // namespace

MaskTable::MaskTable(Recognizer& recognizer, TextCover& cover,
                     std::shared_ptr<const Vocabulary> vocabulary)
    : recognizer_(recognizer),
      cover_(cover),
      vocabulary_(std::move(vocabulary)),
      tokens_(*vocabulary_),
      states_(vocabulary_->max_token_bytes() + 1),
      places_(vocabulary_->max_token_bytes() + 1),
      path_places_(vocabulary_->max_token_bytes() + 1),
      path_(vocabulary_->max_token_bytes() + 1) {}

void MaskTable::TokenSet::add_to(std::span<uint64_t> bits) const {
  for (size_t i = 0; i < words.size(); ++i) bits[i] |= words[i];
  for (const uint32_t id : ids) bits[id / 64] |= uint64_t{1} << (id % 64);
}

void MaskTable::mask(uint32_t state, std::span<uint64_t> bits) {
  make_room();
  std::ranges::fill(bits, 0);
  const std::span<const Recognizer::Thread> threads = recognizer_.threads(state);
  // A copy: to compute a mask adds states.
  for (const Recognizer::Thread thread : std::vector(threads.begin(), threads.end())) {
    recognizer_.lexer().expressions().spend(1 + bits.size() / kWordsOfStep);
    thread_mask(thread).add_to(bits);
  }
}

void MaskTable::make_room() {
  if (memory_ <= kMaxMemory) return;
  lexical_.clear();
  thread_masks_.clear();
  memory_ = 0;
}

const MaskTable::TokenSet& MaskTable::thread_mask(Recognizer::Thread thread) {
  const uint64_t key = uint64_t{thread.row} << 32 | thread.lexer_state;
  if (const auto known = thread_masks_.find(key); known != thread_masks_.end()) {
    return known->second;
  }
  const LexicalMask& lexical = lexical_mask(thread.lexer_state);
  if (lexical.exits.empty()) return lexical.inside;
  tokens_.add(lexical.inside);
  // Along the path of the last exit, which the next one often shares.
  uint32_t lexer_state = Lexer::kDead;
  std::span<const uint8_t> path;
  for (const Exit& exit : lexical.exits) {
    const auto exit_path = std::span(lexical.paths).subspan(exit.path, exit.path_size);
    size_t known = 0;
    if (exit.lexer_state == lexer_state) {
      const auto differs = std::ranges::mismatch(path, exit_path).in1;
      known = static_cast<size_t>(differs - path.begin());
    } else {
      lexer_state = exit.lexer_state;
      path_places_[0] = complete({thread.row, lexer_state});
    }
    path = exit_path;
    for (; known < path.size(); ++known) {
      path_places_[known + 1] = next(path_places_[known], path[known]);
    }
    walk_exit(exit, path_places_[path.size()]);
  }
  const TokenSet& result = thread_masks_.emplace(key, tokens_.take()).first->second;
  memory_ += result.memory();
  return result;
}

const MaskTable::LexicalMask& MaskTable::lexical_mask(uint32_t lexer_state) {
  const auto known = lexical_.find(lexer_state);
  if (known != lexical_.end()) return known->second;
  LexicalMask mask;
  uint32_t covered = 0;
  Lexer& lexer = recognizer_.lexer();
  for (uint32_t i = 0; i < lexer.entries(lexer_state).size(); ++i) {
    covered = std::max(covered, cover_.characters(lexer.entries(lexer_state)[i].rest));
  }
  for (const Vocabulary::Slice& slice : vocabulary_->slices()) {
    if (slice.characters <= covered) {
      tokens_.add(slice.mask);
    } else {
      walk_lexeme(slice.trie, lexer_state, mask);
    }
  }
  walk_lexeme(vocabulary_->rest(), lexer_state, mask);
  mask.inside = tokens_.take();
  memory_ += mask.inside.memory() + mask.exits.size() * sizeof(Exit) + mask.paths.size();
  return lexical_.emplace(lexer_state, std::move(mask)).first->second;
}

// Finds the tokens that stay within a lexeme or end with it.
void MaskTable::walk_lexeme(const TokenTrie& trie, uint32_t lexer_state, LexicalMask& mask) {
  Lexer& lexer = recognizer_.lexer();
  states_[0] = lexer_state;
  for (size_t byte = 0; byte < 256; ++byte) {
    const uint8_t first_class = lexer.class_of(static_cast<uint8_t>(byte));
    if (lexer.known_next(lexer_state)[first_class] == Lexer::kDead) continue;
    size_t walked = 0;
    for (uint32_t i = trie.begin[byte]; i < trie.begin[byte + 1]; ++walked) {
      const TokenTrie::Node& node = trie.nodes[i];
      const uint32_t next = lexer.next(states_[node.depth - 1U], lexer.class_of(node.byte));
      if (next == Lexer::kDead) {
        i += node.size;
      } else if ((next & Lexer::kAccepting) != 0) {
        i = leave_lexeme(trie, i, next & ~Lexer::kAccepting, mask);
      } else {
        states_[node.depth] = next;
        tokens_.add(node.token);
        ++i;
      }
    }
    lexer.expressions().spend(1 + walked / kNodesOfStep);
  }
}

// At a node where a lexeme is complete, in state `lexer_state`. Returns the node behind its
// subtree. What the lexeme does not go on with is left to walk_exit().
uint32_t MaskTable::leave_lexeme(const TokenTrie& trie, uint32_t index, uint32_t lexer_state,
                                 LexicalMask& mask) {
  Lexer& lexer = recognizer_.lexer();
  const TokenTrie::Node& complete = trie.nodes[index];
  const uint32_t end = index + complete.size;
  tokens_.add(complete.token);
  if (!lexer.continues(lexer_state)) {
    if (complete.size > 1) mask.exits.push_back({lexer_state, 0, 0, &trie, index + 1, end});
    return end;
  }
  states_[complete.depth] = lexer_state;
  for (uint32_t i = index + 1; i < end;) {
    const TokenTrie::Node& node = trie.nodes[i];
    const uint32_t next = lexer.next(states_[node.depth - 1U], lexer.class_of(node.byte));
    if (next == Lexer::kDead) {
      const auto path = static_cast<uint32_t>(mask.paths.size());
      const auto path_size = static_cast<uint32_t>(node.depth - 1 - complete.depth);
      mask.paths.insert(mask.paths.end(), &path_[complete.depth + 1U],
                        &path_[complete.depth + 1U] + path_size);
      mask.exits.push_back({lexer_state, path, path_size, &trie, i, i + node.size});
      i += node.size;
    } else {
      states_[node.depth] = next & ~Lexer::kAccepting;
      path_[node.depth] = node.byte;
      tokens_.add(node.token);
      ++i;
    }
  }
  return end;
}

// What may follow where a thread completes lexemes.
MaskTable::Place MaskTable::complete(Recognizer::Thread thread) {
  std::array<Recognizer::Thread, 2> threads = {};
  size_t size = 0;
  if (recognizer_.lexer().continues(thread.lexer_state)) threads[size++] = thread;
  const uint32_t row = recognizer_.row_after(thread);
  const uint32_t lexer_state = recognizer_.row_lexer_state(row);
  if (lexer_state != Lexer::kDead) threads[size++] = {row, lexer_state};
  return place_of(std::span(threads).first(size), recognizer_.row_accepting(row));
}

MaskTable::Place MaskTable::place_of(std::span<const Recognizer::Thread> threads, bool accepting) {
  Place place = {.accepting = accepting};
  for (const Recognizer::Thread& thread : threads) {
    const std::span<const Recognizer::Thread> known(place.threads.data(), place.size);
    if (std::ranges::find(known, thread) != known.end()) continue;
    if (place.size == Place::kMaxThreads) {
      place.state = recognizer_.state_of({threads.begin(), threads.end()});
      place.size = Place::kMaxThreads + 1;
      break;
    }
    place.threads[place.size++] = thread;
  }
  return place;
}

MaskTable::Place MaskTable::next(const Place& place, uint8_t byte) {
  if (place.size > Place::kMaxThreads) {
    Place result = {.size = place.size, .state = recognizer_.next(place.state, byte)};
    if (result.state == Recognizer::kDead) result.size = 0;
    return result;
  }
  Lexer& lexer = recognizer_.lexer();
  std::array<Recognizer::Thread, size_t{2}* Place::kMaxThreads> threads = {};
  size_t size = 0;
  bool accepting = false;
  for (uint32_t i = 0; i < place.size; ++i) {
    const uint32_t row = place.threads[i].row;
    const uint32_t next = lexer.next(place.threads[i].lexer_state, lexer.class_of(byte));
    const uint32_t state = next & ~Lexer::kAccepting;
    if (next == state) {
      if (state != Lexer::kDead) threads[size++] = {row, state};
      continue;
    }
    const Place completed = complete({row, state});
    accepting = accepting || completed.accepting;
    for (uint32_t j = 0; j < completed.size; ++j) threads[size++] = completed.threads[j];
  }
  return place_of(std::span(threads).first(size), accepting);
}

void MaskTable::walk_exit(const Exit& exit, const Place& place) {
  const std::vector<TokenTrie::Node>& nodes = exit.trie->nodes;
  places_[nodes[exit.begin].depth - 1U] = place;
  for (uint32_t i = exit.begin; i < exit.end;) {
    const TokenTrie::Node& node = nodes[i];
    Place& reached = places_[node.depth];
    recognizer_.lexer().expressions().spend(1);
    reached = next(places_[node.depth - 1U], node.byte);
    if (reached.is_dead()) {
      i += node.size;
    } else {
      tokens_.add(node.token);
      ++i;
    }
  }
}

MaskTable::Tokens::Tokens(const Vocabulary& vocabulary)
    : vocabulary_(vocabulary),
      no_token_(vocabulary.no_token()),
      max_ids_(vocabulary.mask_words() * sizeof(uint64_t) / sizeof(uint32_t)),
      words_(vocabulary.mask_words()) {
  ids_.reserve(max_ids_);
}

void MaskTable::Tokens::add(std::span<const uint64_t> words) {
  for (size_t i = 0; i < words.size(); ++i) words_[i] |= words[i];
  while (ids_.size() < max_ids_) ids_.push_back(0);
}

void MaskTable::Tokens::add(const TokenSet& set) {
  if (!set.words.empty()) add(set.words);
  for (const uint32_t id : set.ids) add(id);
}

MaskTable::TokenSet MaskTable::Tokens::take() {
  for (const auto& [token, other] : vocabulary_.duplicates()) {
    if (((words_[token / 64] >> (token % 64)) & 1) != 0) add(other);
  }
  TokenSet result;
  if (ids_.size() < max_ids_) {
    result.ids = ids_;
    for (const uint32_t id : ids_) words_[id / 64] = 0;
  } else {
    result.words = words_;
    std::ranges::fill(words_, 0);
  }
  ids_.clear();
  return result;
}

}  // namespace heed::constrain

#include "heed/constrain/mask_table.h"

#include <algorithm>
#include <bit>

namespace heed::constrain {
namespace {

constexpr size_t kMaxMemory = size_t{32} << 20;

}  // namespace

MaskTable::MaskTable(Recognizer& recognizer, TextCover& cover,
                     std::shared_ptr<const Vocabulary> vocabulary)
    : recognizer_(recognizer),
      cover_(cover),
      vocabulary_(std::move(vocabulary)),
      scratch_(vocabulary_->mask_words() + 1),
      states_(vocabulary_->max_token_bytes() + 1),
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
  std::ranges::fill(scratch_, 0);
  lexical.inside.add_to(scratch_);
  uint32_t lexer_state = Lexer::kDead, after = Recognizer::kDead;
  for (const Exit& exit : lexical.exits) {
    if (exit.lexer_state != lexer_state) {
      lexer_state = exit.lexer_state;
      after = recognizer_.after({thread.row, lexer_state});
    }
    uint32_t state = after;
    for (const uint8_t byte : std::span(lexical.paths).subspan(exit.path, exit.path_size)) {
      state = recognizer_.next(state, byte);
    }
    walk_exit(exit, state);
  }
  return thread_masks_.emplace(key, take_scratch()).first->second;
}

const MaskTable::LexicalMask& MaskTable::lexical_mask(uint32_t lexer_state) {
  const auto known = lexical_.find(lexer_state);
  if (known != lexical_.end()) return known->second;
  LexicalMask mask;
  std::ranges::fill(scratch_, 0);
  uint32_t covered = 0;
  Lexer& lexer = recognizer_.lexer();
  for (uint32_t i = 0; i < lexer.entries(lexer_state).size(); ++i) {
    covered = std::max(covered, cover_.characters(lexer.entries(lexer_state)[i].rest));
  }
  for (const Vocabulary::Slice& slice : vocabulary_->slices()) {
    if (slice.characters <= covered) {
      for (size_t i = 0; i < slice.mask.size(); ++i) scratch_[i] |= slice.mask[i];
    } else {
      walk_lexeme(slice.trie, lexer_state, mask);
    }
  }
  walk_lexeme(vocabulary_->rest(), lexer_state, mask);
  mask.inside = take_scratch();
  memory_ += mask.exits.size() * sizeof(Exit) + mask.paths.size();
  return lexical_.emplace(lexer_state, std::move(mask)).first->second;
}

// Finds the tokens that stay within a lexeme or end with it.
void MaskTable::walk_lexeme(const TokenTrie& trie, uint32_t lexer_state, LexicalMask& mask) {
  Lexer& lexer = recognizer_.lexer();
  const auto end = static_cast<uint32_t>(trie.nodes.size());
  states_[0] = lexer_state;
  for (uint32_t i = 0; i < end;) {
    const TokenTrie::Node& node = trie.nodes[i];
    const uint32_t next = lexer.next(states_[node.depth - 1U], lexer.class_of(node.byte));
    if (next == Lexer::kDead) {
      i += node.size;
    } else if ((next & Lexer::kAccepting) != 0) {
      i = leave_lexeme(trie, i, next & ~Lexer::kAccepting, mask);
    } else {
      states_[node.depth] = next;
      set(node.token);
      ++i;
    }
  }
}

// At a node where a lexeme is complete, in state `lexer_state`. Returns the node behind its
// subtree. What the lexeme does not go on with is left to walk_exit().
uint32_t MaskTable::leave_lexeme(const TokenTrie& trie, uint32_t index, uint32_t lexer_state,
                                 LexicalMask& mask) {
  Lexer& lexer = recognizer_.lexer();
  const TokenTrie::Node& complete = trie.nodes[index];
  const uint32_t end = index + complete.size;
  set(complete.token);
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
      set(node.token);
      ++i;
    }
  }
  return end;
}

void MaskTable::walk_exit(const Exit& exit, uint32_t state) {
  const std::vector<TokenTrie::Node>& nodes = exit.trie->nodes;
  states_[nodes[exit.begin].depth - 1U] = state;
  for (uint32_t i = exit.begin; i < exit.end;) {
    const TokenTrie::Node& node = nodes[i];
    const uint32_t next = recognizer_.next(states_[node.depth - 1U], node.byte);
    if (next == Recognizer::kDead) {
      i += node.size;
    } else {
      states_[node.depth] = next;
      set(node.token);
      ++i;
    }
  }
}

// The tokens that are set, each with those that have the same bytes.
MaskTable::TokenSet MaskTable::take_scratch() {
  scratch_.back() = 0;
  for (const auto& [token, other] : vocabulary_->duplicates()) {
    const uint64_t bit = (scratch_[token / 64] >> (token % 64)) & 1;
    scratch_[other / 64] |= bit << (other % 64);
  }
  TokenSet result;
  size_t count = 0;
  for (const uint64_t word : scratch_) count += static_cast<size_t>(std::popcount(word));
  if (count * sizeof(uint32_t) >= vocabulary_->mask_words() * sizeof(uint64_t)) {
    result.words.assign(scratch_.begin(), scratch_.end() - 1);
  } else {
    for (size_t i = 0; i + 1 < scratch_.size(); ++i) {
      for (uint64_t word = scratch_[i]; word != 0; word &= word - 1) {
        result.ids.push_back(static_cast<uint32_t>(i * 64) +
                             static_cast<uint32_t>(std::countr_zero(word)));
      }
    }
  }
  memory_ += result.memory();
  return result;
}

}  // namespace heed::constrain

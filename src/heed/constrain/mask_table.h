#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "heed/constrain/recognizer.h"
#include "heed/constrain/text_cover.h"
#include "heed/constrain/vocabulary.h"

namespace heed::constrain {

/// Computes masks of one recognizer over one vocabulary, and keeps them.
///
/// The mask of a thread has two parts. Tokens that stay within the lexeme depend on the state of
/// the lexer alone and are found once for each. Of the others, those that complete the lexeme on
/// their way are listed with that state (`Exit`), and what they go on with is tried from the row
/// that follows in the grammar. In a string, for example, these are the few tokens with a quote.
class MaskTable {
 public:
  MaskTable(Recognizer& recognizer, TextCover& cover, std::shared_ptr<const Vocabulary> vocabulary);

  const Vocabulary& vocabulary() const { return *vocabulary_; }
  /// See Matcher::mask(); without end tokens.
  void mask(uint32_t state, std::span<uint64_t> bits);

 private:
  /// A set of tokens: ids if there are few, else bits.
  struct TokenSet {
    std::vector<uint32_t> ids;
    std::vector<uint64_t> words;
    void add_to(std::span<uint64_t> bits) const;
    size_t memory() const {
      return ids.size() * sizeof(uint32_t) + words.size() * sizeof(uint64_t);
    }
  };
  /// Tokens that go on after a lexeme is complete: the nodes [begin, end) of a trie.
  struct Exit {
    uint32_t lexer_state;      // where a lexeme is complete for the first time
    uint32_t path, path_size;  // the bytes from there to the nodes, in LexicalMask::paths
    const TokenTrie* trie;
    uint32_t begin, end;
  };
  struct LexicalMask {
    TokenSet inside;
    std::vector<Exit> exits;
    std::vector<uint8_t> paths;
  };

  /// What a text in an exit may go on with: a few threads, or else a state of the recognizer, which
  /// takes longer to make.
  struct Place {
    static constexpr uint32_t kMaxThreads = 8;
    uint32_t size = 0;  // of threads; kMaxThreads + 1: a state
    bool accepting = false;
    std::array<Recognizer::Thread, kMaxThreads> threads = {};
    uint32_t state = Recognizer::kDead;
    bool is_dead() const { return size == 0 && !accepting; }
  };
  /// The tokens of a mask while it is computed.
  class Tokens {
   public:
    explicit Tokens(const Vocabulary& vocabulary);
    void add(uint32_t token) {
      if (token == no_token_) return;
      words_[token / 64] |= uint64_t{1} << (token % 64);
      if (ids_.size() < max_ids_) ids_.push_back(token);
    }
    void add(std::span<const uint64_t> words);
    void add(const TokenSet& set);
    /// The tokens, each with those that have the same bytes. There are none afterwards.
    TokenSet take();

   private:
    const Vocabulary& vocabulary_;
    uint32_t no_token_;
    size_t max_ids_;
    std::vector<uint64_t> words_;
    std::vector<uint32_t> ids_;  // all of them if there are fewer than max_ids_
  };

  const TokenSet& thread_mask(Recognizer::Thread thread);
  const LexicalMask& lexical_mask(uint32_t lexer_state);
  void walk_lexeme(const TokenTrie& trie, uint32_t lexer_state, LexicalMask& mask);
  uint32_t leave_lexeme(const TokenTrie& trie, uint32_t node, uint32_t lexer_state,
                        LexicalMask& mask);
  Place complete(Recognizer::Thread thread);
  Place next(const Place& place, uint8_t byte);
  Place place_of(std::span<const Recognizer::Thread> threads, bool accepting);
  void walk_exit(const Exit& exit, const Place& place);
  void make_room();

  Recognizer& recognizer_;
  TextCover& cover_;
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::unordered_map<uint32_t, LexicalMask> lexical_;  // by state of the lexer
  std::unordered_map<uint64_t, TokenSet> thread_masks_;
  Tokens tokens_;
  std::vector<uint32_t> states_;    // by depth in a trie
  std::vector<Place> places_;       // likewise
  std::vector<Place> path_places_;  // by bytes of Exit::path
  std::vector<uint8_t> path_;
  size_t memory_ = 0;
};

}  // namespace heed::constrain

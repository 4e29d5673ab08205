#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heed/generate/token_joints.h"
#include "heed/generate/token_logits.h"
#include "heed/glossary.h"
#include "heed/text/translation_tokenizer.h"

namespace heed::generate {

/// A term that an output must contain.
struct RequiredTerm {
  std::string name;                                // for messages
  std::vector<std::vector<int32_t>> alternatives;  // tokens; each occurrence is one of them
  int64_t count = 1;                               // occurrences, at least
  /// Where the source has it. An occurrence begins where the output attends to one of these; if
  /// there are none, anywhere.
  std::vector<TokenRange> places = {};
};

/// A term with the tokens of each alternative at the beginning of a text, behind another word and
/// behind a bracket. Throws InputError, which names the alternative, if it is empty, is not UTF-8
/// or is nothing that the vocabulary can spell.
RequiredTerm required_term(const text::TranslationTokenizer& tokenizer,
                           std::span<const std::string> alternatives, int64_t count = 1);

/// Whether the vocabulary has tokens for `text`, which is valid UTF-8, as it is.
bool can_spell(const text::TranslationTokenizer& tokenizer, const std::string& text);

/// The terms of one output. It contains a term if `count` of the term's occurrences, found from
/// left to right, do not overlap: each begins behind the end of the one before. Occurrences of
/// different terms may share tokens, so that a term inside another one occurs wherever the other
/// does. Immutable.
class RequiredTerms {
 public:
  /// Terms with the same alternatives are one term, whose count is the sum. An alternative that has
  /// another one inside it is found where the other ends. With `joints`, which are those of the
  /// vocabulary, tokens are an occurrence only if no word reaches into them or out of them. `text`
  /// is that of the source, without its end and languages. Throws InputError, which names the term,
  /// if it has no alternative, an empty one, a token outside the vocabulary, a count below 1 or a
  /// place outside of `text`.
  RequiredTerms(std::vector<RequiredTerm> terms, int64_t vocab_size,
                std::shared_ptr<const TokenJoints> joints = nullptr, TokenRange text = {});

  size_t size() const { return terms_.size(); }
  /// All tokens of the alternatives.
  std::vector<int32_t> tokens() const;
  /// The number of tokens in which all terms can be written one after the other.
  int64_t fewest_tokens() const;
  /// Throws InputError if the terms do not fit into `room` tokens, or one has an end token.
  void check(int64_t room, std::span<const int32_t> end_tokens) const;

 private:
  friend class TermProgress;
  /// A state of the automaton of Aho and Corasick (1975) that finds a term's alternatives: the
  /// longest end of the output that is the beginning of one.
  struct Node {
    std::vector<std::pair<int32_t, int32_t>> next;  // token and node
    int32_t fallback = 0;                           // of the longest shorter end
    int64_t depth = 0;                              // tokens
    int64_t fewest_left = 0;                        // tokens up to the end of an occurrence
    bool ends = false;                              // the beginning is an alternative
    bool stands_alone = true;                       // never continues a word
    const int32_t* find(int32_t token) const;
  };
  struct Term {
    RequiredTerm term;
    std::vector<Node> nodes;  // the first one is the root
    int64_t longest = 0;      // alternative, in tokens
  };
  Term automaton_of(RequiredTerm term) const;
  void add_alternative(Term& term, std::span<const int32_t> tokens) const;
  static void add_fallbacks(std::vector<Node>& nodes);
  static void add_fewest_left(std::vector<Node>& nodes);
  static int32_t step(const Term& term, int32_t node, int32_t token);

  std::vector<Term> terms_;
  std::shared_ptr<const TokenJoints> joints_;  // or null
  TokenRange text_;                            // of the source
  int64_t longest_ = 0;                        // alternative of all terms
};

/// How far one hypothesis has come with its terms.
class TermProgress {
 public:
  /// `room` is the number of tokens that the output has room for.
  TermProgress(std::shared_ptr<const RequiredTerms> terms, int64_t room);

  void append(int32_t token);
  /// Whether all terms occurred.
  bool complete() const { return missing_ == 0; }
  /// The bank of a hypothesis (Post & Vilar 2018): met occurrences and, of the term that is the
  /// nearest to its end, the tokens that it has. An occurrence counts as many steps as the longest
  /// alternative of all terms has tokens, as in ConstrainedBeamSearchScorer of `transformers` 4.
  int64_t bank() const;
  /// The tokens that continue a term in progress, or those that begin a term if none is. Without
  /// repetitions. A term with places begins only if the next token attends to one of them the most,
  /// or anyway if `attention`, [source tokens], is empty.
  std::vector<int32_t> next_tokens(std::span<const float> attention = {}) const;
  /// Forbids `end_tokens` until the terms are complete, and tokens that would leave too little room
  /// for writing the missing terms one after the other. `logits` are those of all tokens.
  void restrict(const TokenLogits& logits, std::span<const int32_t> end_tokens) const;

 private:
  struct Place {
    int32_t node = 0;   // of the term's automaton
    int64_t count = 0;  // occurrences that are missing
    /// One has just ended at `node`. It is undone by a token that continues its word.
    bool ended = false;

    int32_t node_in_progress() const { return ended ? 0 : node; }
  };
  bool joins(int32_t token) const;
  void advance(size_t term, int32_t token, bool joined);
  bool starts_between_words(int64_t tokens) const;
  /// In which the missing occurrences can be written.
  int64_t fewest_tokens() const;
  int64_t fewest_tokens_from_start(bool undone) const;
  int64_t fewest_tokens_behind(int32_t token) const;
  std::vector<int32_t> tokens_that_matter() const;
  bool attends_to(size_t term, std::span<const float> attention) const;

  std::shared_ptr<const RequiredTerms> terms_;
  std::vector<Place> places_;  // of each term
  int64_t missing_ = 0;        // occurrences, of all terms
  int64_t met_ = 0;
  int64_t room_;
  int32_t last_ = -1;         // the last token
  uint64_t word_starts_ = 0;  // bit i: no word reaches into the token that is i before the last
};

}  // namespace heed::generate

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/mutex.h"
#include "heed/constrain/grammar.h"
#include "heed/constrain/recognizer.h"
#include "heed/constrain/regex.h"
#include "heed/constrain/shortest_text.h"
#include "heed/constrain/text_cover.h"
#include "heed/constrain/token_masks.h"
#include "heed/constrain/vocabulary.h"

namespace heed::constrain {

/// A compiled constraint. It can be used by several threads. The automaton that recognises it is
/// built while matchers use it, and is shared by all of them under a mutex: what one of them has
/// needed, no other computes again, and usually little is left to compute while it is locked.
class Constraint {
 public:
  /// What an automaton may take, in bytes. One that needs more is dropped and built again from the
  /// text; a text that alone needs more is refused.
  static constexpr size_t kMaxMemory = size_t{40} << 20;

  /// The strings that `start` derives. Throws Error if there is none, or if a symbol that it needs
  /// is declared and not defined.
  Constraint(GrammarBuilder builder, Symbol start);

  /// A recognizer and the masks of its states.
  class Automaton {
   public:
    Automaton(std::shared_ptr<const Grammar> grammar, ExpressionId slice_character);
    Recognizer& recognizer() { return recognizer_; }
    /// Throws Error if the vocabulary cannot spell what the constraint requires.
    TokenMasks& masks(const std::shared_ptr<const Vocabulary>& vocabulary);
    ShortestText& shortest_text();

   private:
    Recognizer recognizer_;
    TextCover cover_;
    std::unique_ptr<ShortestText> shortest_text_;     // once it was needed
    std::vector<std::unique_ptr<TokenMasks>> masks_;  // the vocabulary used last is the last
  };
  /// Calls use(automaton, number) while no other thread uses the automaton; `number` is a different
  /// one for each that was built. If `use` throws Error, it is called once more with a new one,
  /// which has all of the memory. A call takes at most some 0.1 s: then TooManySteps is thrown.
  void with_automaton(const std::function<void(Automaton&, uint64_t)>& use) const;

 private:
  std::shared_ptr<const Grammar> grammar_;
  ExpressionId slice_character_;
  mutable Mutex mutex_;
  mutable std::unique_ptr<Automaton> automaton_ HEED_GUARDED_BY(mutex_);
  mutable uint64_t number_ HEED_GUARDED_BY(mutex_) = 0;
};

// Each of these adds texts to a grammar and returns the symbol that derives them. They throw Error,
// with the place, for what is malformed or not supported.

/// The strings that match `pattern` as a whole: "cat|dog", not a text that holds one of them.
/// regex.h says which syntax is supported.
Symbol add_regex(GrammarBuilder& builder, std::string_view pattern,
                 RegexDialect dialect = RegexDialect::ecma);
/// A grammar as llama.cpp writes them (grammars/README.md there), beginning at its rule "root".
Symbol add_gbnf(GrammarBuilder& builder, std::string_view text);
/// A grammar of the Python package Lark, beginning at its rule "start". What it ignores is ignored
/// in the whole of the builder's grammar.
Symbol add_lark(GrammarBuilder& builder, std::string_view text);
/// One of the strings.
Symbol add_choice(GrammarBuilder& builder, std::span<const std::string> strings);

// Constraints of these texts alone. They throw Error as the functions above and Constraint do.
std::shared_ptr<const Constraint> compile_regex(std::string_view pattern,
                                                RegexDialect dialect = RegexDialect::ecma);
std::shared_ptr<const Constraint> compile_gbnf(std::string_view text);
std::shared_ptr<const Constraint> compile_lark(std::string_view text);
std::shared_ptr<const Constraint> compile_choice(std::span<const std::string> strings);

}  // namespace heed::constrain

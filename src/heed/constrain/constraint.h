#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "heed/constrain/grammar.h"

namespace heed::constrain {

class SharedAutomaton;

/// A compiled constraint. It can be used by several threads. The automaton that recognises it is
/// built while matchers use it, and is shared by all of them under a mutex: what one of them has
/// needed, no other computes again.
class Constraint {
 public:
  /// The strings that `start` derives. Throws Error if there is none, or if a symbol that it needs
  /// is declared and not defined.
  Constraint(GrammarBuilder builder, Symbol start);
  ~Constraint();
  Constraint(const Constraint&) = delete;
  Constraint& operator=(const Constraint&) = delete;

 private:
  friend class Matcher;
  std::unique_ptr<SharedAutomaton> automaton_;
};

/// The strings that match `pattern` as a whole: "cat|dog", not a text that holds one of them.
/// regex.h says which syntax is supported.
std::shared_ptr<const Constraint> compile_regex(std::string_view pattern);
/// A grammar as llama.cpp writes them (grammars/README.md there), beginning at its rule "root".
std::shared_ptr<const Constraint> compile_gbnf(std::string_view text);
/// A grammar of the Python package Lark, beginning at its rule "start".
std::shared_ptr<const Constraint> compile_lark(std::string_view text);
/// One of the strings.
std::shared_ptr<const Constraint> compile_choice(std::span<const std::string> strings);

}  // namespace heed::constrain

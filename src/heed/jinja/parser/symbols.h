#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heed/jinja/parser/ast.h"

namespace heed::jinja {

/// A function while its variables are numbered.
struct FunctionSymbols {
  const FunctionSymbols* outer = nullptr;
  /// Variables of the same name and scope level share a slot, as in the Python that jinja2 writes.
  std::map<std::pair<int, std::string>, int> slots = {};

  int n_slots() const { return static_cast<int>(slots.size()); }
};

/// The variables of a scope: which it has of its own, and what each is when the scope is entered.
/// The rules are jinja2's (idtracking.py): a name that a scope assigns is its own; before that it
/// is what the enclosing scope has, else what the context has. A name that it only reads belongs to
/// the nearest enclosing scope that mentions it, else to itself, and then comes from the context.
class Symbols {
 public:
  struct Ref {
    const FunctionSymbols* function;
    int index;
  };

  /// The scope of a function, or one inside of `parent` that belongs to `function`.
  Symbols(FunctionSymbols& function, const Symbols* parent)
      : function_(&function), parent_(parent), level_(parent ? parent->level_ + 1 : 0) {}

  FunctionSymbols& function() const { return *function_; }

  void load(const std::string& name);
  void store(const std::string& name);
  Ref declare_parameter(const std::string& name);

  /// What a branch of an {% if %} adds to this scope.
  Symbols branch() const;
  /// Takes over what `branches` have added. A name that only they assign may keep its earlier
  /// value.
  void merge(const std::vector<Symbols>& branches);

  /// Where `name` lives, or nullptr if no scope mentions it.
  const Ref* find(const std::string& name) const;
  /// The same as the code of this scope's function sees it. The name has been mentioned.
  ast::Slot slot_of(const std::string& name) const { return slot(*find(name)); }
  bool is_assigned(const std::string& name) const;
  ast::Scope scope() const;

 private:
  struct Action {
    ast::Load::From from;
    Ref outer = {};
    std::string name = {};
  };

  ast::Slot slot(const Ref& ref) const;
  const Ref* find_own(const std::string& name) const;
  bool stores(const std::string& name) const;
  Ref define(const std::string& name, Action action);

  FunctionSymbols* function_;
  const Symbols* parent_;          // the enclosing scope
  const Symbols* base_ = nullptr;  // of a branch: the scope that it belongs to
  int level_;
  std::map<std::string, Ref> refs_;
  std::map<int, Action> loads_;  // by index of the slot
  std::set<std::string> stores_;
};

}  // namespace heed::jinja

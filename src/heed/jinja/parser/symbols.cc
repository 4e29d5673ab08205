#include "heed/jinja/parser/symbols.h"

namespace heed::jinja {

using From = ast::Load::From;

const Symbols::Ref* Symbols::find_own(const std::string& name) const {
  for (const Symbols* scope = this; scope != nullptr; scope = scope->base_)
    if (const auto found = scope->refs_.find(name); found != scope->refs_.end())
      return &found->second;
  return nullptr;
}

const Symbols::Ref* Symbols::find(const std::string& name) const {
  for (const Symbols* scope = this; scope != nullptr; scope = scope->parent_)
    if (const Ref* found = scope->find_own(name)) return found;
  return nullptr;
}

bool Symbols::stores(const std::string& name) const {
  for (const Symbols* scope = this; scope != nullptr; scope = scope->base_)
    if (scope->stores_.contains(name)) return true;
  return false;
}

bool Symbols::is_assigned(const std::string& name) const {
  for (const Symbols* scope = this; scope != nullptr; scope = scope->parent_)
    if (scope->stores(name)) return true;
  return false;
}

Symbols::Ref Symbols::define(const std::string& name, Action action) {
  auto& slots = function_->slots;
  const int next = function_->n_slots();
  const Ref ref{function_, slots.try_emplace({level_, name}, next).first->second};
  refs_[name] = ref;
  loads_[ref.index] = std::move(action);
  return ref;
}

void Symbols::load(const std::string& name) {
  if (find(name) == nullptr) define(name, {.from = From::context, .name = name});
}

void Symbols::store(const std::string& name) {
  stores_.insert(name);
  if (find_own(name) != nullptr) return;
  const Ref* outer = parent_ ? parent_->find(name) : nullptr;
  define(name, outer ? Action{.from = From::outer, .outer = *outer} : Action{From::nothing});
}

Symbols::Ref Symbols::declare_parameter(const std::string& name) {
  stores_.insert(name);
  return define(name, {From::argument});
}

Symbols Symbols::branch() const {
  Symbols copy(*function_, parent_);
  copy.base_ = this;
  return copy;
}

void Symbols::merge(const std::vector<Symbols>& branches) {
  std::set<std::string> added;
  for (const Symbols& branch : branches) {
    for (const std::string& name : branch.stores_)
      if (!stores(name)) added.insert(name);
  }
  for (const Symbols& branch : branches) {
    for (const auto& [name, ref] : branch.refs_) refs_[name] = ref;
    for (const auto& [index, action] : branch.loads_) loads_[index] = action;
    stores_.insert(branch.stores_.begin(), branch.stores_.end());
  }
  for (const std::string& name : added) {
    const Ref* outer = parent_ ? parent_->find(name) : nullptr;
    loads_[find_own(name)->index] = outer ? Action{.from = From::outer, .outer = *outer}
                                          : Action{.from = From::context, .name = name};
  }
}

ast::Slot Symbols::slot(const Ref& ref) const {
  ast::Slot slot{0, ref.index};
  for (const FunctionSymbols* at = function_; at != ref.function; at = at->outer) ++slot.hops;
  return slot;
}

ast::Scope Symbols::scope() const {
  ast::Scope scope;
  for (const auto& [index, action] : loads_) {
    ast::Load load{{0, index}, action.from, {}, action.name};
    if (action.from == From::outer) load.outer = slot(action.outer);
    scope.push_back(std::move(load));
  }
  return scope;
}

}  // namespace heed::jinja

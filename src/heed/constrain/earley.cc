#include "heed/constrain/earley.h"

#include <algorithm>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/hash.h"

namespace heed::constrain {
namespace {

// Entries that are looked at in the time of a step.
constexpr size_t kEntriesOfStep = 8;

template <typename Value>
void make_set(std::vector<Value>& values) {
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
}

}  // namespace

size_t NumbersHash::operator()(const std::vector<uint32_t>& numbers) const {
  return hash_after(numbers.size(), {reinterpret_cast<const char*>(numbers.data()),
                                     numbers.size() * sizeof(uint32_t)});
}

Earley::Earley(const Grammar& grammar, Lexer& lexer, size_t max_memory)
    : grammar_(grammar),
      lexer_(lexer),
      place_(grammar.rules.size()),
      waiting_for_(grammar.rules.size()),
      max_memory_(max_memory) {
  find_components();
  continuations_.push_back({{Grammar::kEnd, kWhole}});
  continuation_index_.emplace(std::vector<uint32_t>{Grammar::kEnd, kWhole}, kWhole);
  wait_for(grammar.start, {Grammar::kEnd, kWhole});
  const bool may_be_empty = grammar.rules[grammar.start].nullable;
  start_ = make_row({}, {.accepting = may_be_empty});
}

size_t Earley::memory() const { return memory_; }

void Earley::find_components() {
  for (uint32_t rule = 0; rule < grammar_.rules.size(); ++rule) {
    const Grammar::Rule& each = grammar_.rules[rule];
    if (each.component >= components_.size()) components_.resize(each.component + 1);
    Component& component = components_[each.component];
    place_[rule] = static_cast<uint32_t>(component.rules.size());
    component.rules.push_back(rule);
    component.left_recursive = each.left_recursive;
    if (!each.left_recursive) continue;
    for (uint32_t item : each.alternatives) {
      for (; item != Grammar::kEnd; item = grammar_.items[item].next) {
        const Grammar::Item& part = grammar_.items[item];
        if (part.part == Grammar::Part::rule &&
            grammar_.rules[part.index].component == each.component) {
          component.waiters.push_back({part.index, part.next, rule});
        }
        if (!grammar_.can_be_empty(part)) break;
      }
    }
  }
}

uint32_t Earley::advance(std::span<const Completion> completions) {
  std::vector<uint32_t> key;
  for (const Completion& each : completions) {
    key.push_back(each.row);
    key.push_back(each.accepted);
  }
  if (const auto known = advanced_.find(key); known != advanced_.end()) return known->second;
  std::vector<Waiter> kernel;
  Draft draft;
  for (const Completion& each : completions) {
    const std::span<const uint32_t> lexemes = lexer_.lexemes_of(each.accepted);
    const Row& row = rows_[each.row];
    spend(row.entries.size() / kEntriesOfStep);
    for (const Entry& entry : row.entries) {
      if (std::ranges::binary_search(lexemes, entry.lexeme)) kernel.push_back(entry.after);
    }
    if (grammar_.ignored && std::ranges::binary_search(lexemes, *grammar_.ignored)) {
      draft.entries.insert(draft.entries.end(), row.entries.begin(), row.entries.end());
      draft.accepting = draft.accepting || row.accepting;
    }
  }
  const uint32_t row = make_row(std::move(kernel), std::move(draft));
  memory_ += key.size() * sizeof(uint32_t) + 64;
  advanced_.emplace(std::move(key), row);
  return row;
}

uint32_t Earley::make_row(std::vector<Waiter> kernel, Draft draft) {
  scan(std::move(kernel), draft);
  while (!predicted_.empty()) {
    const uint32_t component = *predicted_.begin();
    predicted_.erase(predicted_.begin());
    predict_component(components_[component], draft);
  }
  spend(draft.entries.size());
  make_set(draft.entries);
  require(memory_ <= max_memory_, "the grammar is too ambiguous or too large");
  std::vector<uint32_t> key = {draft.accepting ? 1U : 0U}, lexemes;
  for (const Entry& entry : draft.entries) {
    key.insert(key.end(), {entry.lexeme, entry.after.item, entry.after.continuation});
    lexemes.push_back(entry.lexeme);
  }
  const auto [at, inserted] = row_index_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
  if (!inserted) return at->second;
  if (grammar_.ignored) lexemes.push_back(*grammar_.ignored);
  make_set(lexemes);
  memory_ += key.size() * 2 * sizeof(uint32_t) + 128;
  rows_.push_back({std::move(draft.entries), draft.accepting, lexer_.start(lexemes)});
  return at->second;
}

// Goes on from items whose continuations were made in earlier rows.
void Earley::scan(std::vector<Waiter> kernel, Draft& draft) {
  std::unordered_set<uint64_t> seen;
  while (!kernel.empty()) {
    const Waiter waiter = kernel.back();
    kernel.pop_back();
    spend(1);
    if (!seen.insert(uint64_t{waiter.item} << 32 | waiter.continuation).second) continue;
    if (waiter.item == Grammar::kEnd) {
      const std::vector<Waiter>& after = continuations_[waiter.continuation];
      if (waiter.continuation == kWhole) {
        draft.accepting = true;
      } else {
        kernel.insert(kernel.end(), after.begin(), after.end());
      }
      continue;
    }
    const Grammar::Item& part = grammar_.items[waiter.item];
    const Waiter next = {part.next, waiter.continuation};
    if (part.part == Grammar::Part::lexeme) {
      draft.entries.push_back({part.index, next});
    } else {
      wait_for(part.index, next);
    }
    if (grammar_.can_be_empty(part)) kernel.push_back(next);
  }
}

void Earley::wait_for(uint32_t rule, Waiter waiter) {
  spend(1);
  waiting_for_[rule].push_back(waiter);
  predicted_.insert(grammar_.rules[rule].component);
}

// Begins a rule. That it may end at once was seen where it is waited for.
void Earley::predict(uint32_t rule, uint32_t continuation, Draft& draft) {
  const Grammar::Rule& each = grammar_.rules[rule];
  for (uint32_t item : each.alternatives) {
    for (; item != Grammar::kEnd; item = grammar_.items[item].next) {
      spend(1);
      const Grammar::Item& part = grammar_.items[item];
      const Waiter next = {part.next, continuation};
      if (part.part == Grammar::Part::lexeme) {
        draft.entries.push_back({part.index, next});
      } else if (grammar_.rules[part.index].component != each.component) {
        wait_for(part.index, next);
      }
      if (!grammar_.can_be_empty(part)) break;
    }
  }
}

// All that waits for the rules of a component is known: those that may begin with them were
// predicted before.
void Earley::predict_component(const Component& component, Draft& draft) {
  if (component.left_recursive) {
    const uint32_t base = continuations_of(component);
    for (const uint32_t rule : component.rules) predict(rule, base + place_[rule], draft);
  } else {
    const uint32_t rule = component.rules[0];
    predict(rule, continuation_of(expanded(waiting_for_[rule])), draft);
  }
  for (const uint32_t rule : component.rules) waiting_for_[rule].clear();
}

// Replaces what ends together with its continuation by what waits there.
std::vector<Earley::Waiter> Earley::expanded(std::span<const Waiter> waiters) {
  std::vector<Waiter> result;
  for (const Waiter& waiter : waiters) {
    if (waiter.item != Grammar::kEnd) {
      result.push_back(waiter);
      continue;
    }
    const std::vector<Waiter>& after = continuations_[waiter.continuation];
    spend(after.size());
    result.insert(result.end(), after.begin(), after.end());
  }
  make_set(result);
  return result;
}

uint32_t Earley::continuation_of(const std::vector<Waiter>& waiters) {
  std::vector<uint32_t> key;
  for (const Waiter& waiter : waiters) key.insert(key.end(), {waiter.item, waiter.continuation});
  const auto [at, inserted] =
      continuation_index_.try_emplace(key, static_cast<uint32_t>(continuations_.size()));
  if (inserted) {
    memory_ += key.size() * 2 * sizeof(uint32_t) + 128;
    continuations_.push_back(waiters);
  }
  return at->second;
}

// The continuations of rules that begin with each other refer to themselves. What waits for the
// rules outside of the component determines them. Returns the first; those of the other rules
// follow.
uint32_t Earley::continuations_of(const Component& component) {
  std::vector<std::vector<Waiter>> outer;
  std::vector<uint32_t> key = {component.rules[0]};
  for (const uint32_t rule : component.rules) {
    outer.push_back(expanded(waiting_for_[rule]));
    key.push_back(static_cast<uint32_t>(outer.back().size()));
    for (const Waiter& waiter : outer.back()) {
      key.insert(key.end(), {waiter.item, waiter.continuation});
    }
  }
  const auto base = static_cast<uint32_t>(continuations_.size());
  const auto [at, inserted] = recursive_index_.try_emplace(key, base);
  if (!inserted) return at->second;
  for (std::vector<Waiter>& each : recursive_waiters(component, std::move(outer), base)) {
    memory_ += each.size() * sizeof(Waiter) + 64;
    continuations_.push_back(std::move(each));
  }
  memory_ += key.size() * sizeof(uint32_t) + 64;
  return base;
}

// Adds to what waits from outside what waits within the component.
std::vector<std::vector<Earley::Waiter>> Earley::recursive_waiters(
    const Component& component, std::vector<std::vector<Waiter>> waiters, uint32_t base) {
  for (const InnerWaiter& inner : component.waiters) {
    if (inner.item == Grammar::kEnd) continue;
    waiters[place_[inner.for_rule]].push_back({inner.item, base + place_[inner.rule]});
  }
  // A rule that ends with another one: what waits for it waits for that one, too.
  for (bool changed = true; changed;) {
    changed = false;
    for (const InnerWaiter& inner : component.waiters) {
      if (inner.item != Grammar::kEnd || inner.for_rule == inner.rule) continue;
      std::vector<Waiter>& target = waiters[place_[inner.for_rule]];
      const std::vector<Waiter>& source = waiters[place_[inner.rule]];
      const size_t before = target.size();
      spend(source.size() + target.size());
      target.insert(target.end(), source.begin(), source.end());
      make_set(target);
      changed = changed || target.size() != before;
    }
  }
  for (std::vector<Waiter>& each : waiters) make_set(each);
  return waiters;
}

}  // namespace heed::constrain

#include <algorithm>
#include <optional>

#include "heed/constrain/schema/schema_grammar.h"

namespace heed::constrain {
namespace {

/// Properties of which at least one must satisfy something.
constexpr size_t kMaxSomeProperties = 4;
/// Counts of members that are told apart.
constexpr uint64_t kMaxCounted = 2000;
/// Kinds of members by the patterns that match their names.
constexpr size_t kMaxKinds = 64;

/// Members with a name of `names` and a value of `value`. Of the set's `some`, they are the ones
/// whose bits are in `satisfied`.
struct MemberKind {
  ExpressionId names;
  ConjunctionId value;
  unsigned satisfied = 0;
};

/// Writes the rules of one set of objects, behind "{": members with known names in their order,
/// then others. What may follow is a state: the next known name, how many members there are, up to
/// what matters, and which `some` are satisfied.
class ObjectRules {
 public:
  ObjectRules(SchemaGrammar& grammar, const ObjectSet& set)
      : grammar_(grammar),
        algebra_(grammar.algebra()),
        builder_(grammar.builder()),
        set_(set),
        close_(grammar.close('}', false)) {
    if (set.some.size() > kMaxSomeProperties) {
      algebra_.refuse("not", set.location, "it demands too many members at once");
    }
    find_names();
    find_other_kinds();
    find_sizes();
  }

  Symbol write();

 private:
  struct Name {
    std::string name;
    bool required = false;
    std::vector<MemberKind> kinds;
  };

  void find_names();
  void add_name(const std::string& name);
  void find_other_kinds();
  void add_satisfying(std::vector<MemberKind>& kinds, const MemberKind& kind);
  void find_sizes();
  Symbol member(const MemberKind& kind);
  Symbol after_names(uint64_t count, unsigned satisfied);
  Symbol others(bool is_first, uint64_t count, unsigned satisfied);
  uint64_t add(uint64_t count) const { return std::min(count + 1, counted_); }
  size_t state(uint64_t count, unsigned satisfied) const {
    return count * (all_satisfied_ + 1) + satisfied;
  }

  SchemaGrammar& grammar_;
  SchemaAlgebra& algebra_;
  GrammarBuilder& builder_;
  const ObjectSet& set_;
  Symbol close_;  // behind a member
  std::vector<Name> names_;
  std::map<std::string, size_t, std::less<>> positions_;
  std::vector<MemberKind> other_kinds_;
  std::map<std::pair<ExpressionId, ConjunctionId>, Symbol> members_;
  std::map<size_t, Symbol> other_states_;
  uint64_t min_ = 0, max_ = kNoLimit;
  uint64_t counted_ = 0;  // counts above this are not told apart
  unsigned all_satisfied_ = 0;
};

void ObjectRules::add_name(const std::string& name) {
  if (!positions_.emplace(name, names_.size()).second) return;
  names_.push_back({name, false, {}});
}

void ObjectRules::find_names() {
  for (const bool ordered : {true, false}) {
    for (const auto& group : set_.groups) {
      if (group->ordered != ordered) continue;
      for (const auto& [name, value] : group->names) add_name(name);
    }
    for (const std::string& name : set_.required) add_name(name);
  }
  for (const std::string& name : set_.required) names_[positions_.at(name)].required = true;
  all_satisfied_ = (1U << set_.some.size()) - 1;
  std::vector<ConjunctionId> values(names_.size(), kAnything);
  for (size_t i = 0; i < names_.size(); ++i) {
    values[i] = algebra_.member_value(set_, names_[i].name);
    if (!algebra_.allows_name(set_, names_[i].name) || algebra_.is_empty(values[i])) continue;
    add_satisfying(names_[i].kinds, {algebra_.text().literal(names_[i].name), values[i]});
  }
}

void ObjectRules::add_satisfying(std::vector<MemberKind>& kinds, const MemberKind& kind) {
  for (unsigned bits = 0; bits <= all_satisfied_; ++bits) {
    MemberKind part = kind;
    part.satisfied = bits;
    for (size_t i = 0; i < set_.some.size(); ++i) {
      if ((bits >> i & 1) == 0) continue;
      part.names = algebra_.text().intersect(part.names, set_.some[i].names);
      part.value = algebra_.both(part.value, set_.some[i].value);
    }
    if (bits != 0 && (algebra_.text().is_empty(part.names) || algebra_.is_empty(part.value)))
      continue;
    kinds.push_back(part);
  }
}

void ObjectRules::find_other_kinds() {
  struct Cell {
    ExpressionId names;
    ConjunctionId value = kAnything;
    bool found = false;
  };
  TextLanguage& text = algebra_.text();
  std::vector<std::string> known;
  for (const Name& name : names_) known.push_back(name.name);
  ExpressionId names = known.empty() ? text.all() : text.complement(text.one_of(known));
  for (const ExpressionId allowed : set_.names) names = text.intersect(names, allowed);
  std::vector<Cell> cells = {{names}};
  bool may_be_empty = !set_.names.empty();
  for (const auto& group : set_.groups) {
    for (Cell& cell : cells) cell.found = false;
    for (const auto& [pattern, value] : group->patterns) {
      std::vector<Cell> parts;
      for (const Cell& cell : cells) {
        parts.push_back(
            {text.intersect(cell.names, pattern), algebra_.both(cell.value, value), true});
        parts.push_back(
            {text.intersect(cell.names, text.complement(pattern)), cell.value, cell.found});
      }
      std::erase_if(parts, [&](const Cell& cell) { return text.is_empty(cell.names); });
      cells = std::move(parts);
      may_be_empty = false;
      algebra_.spend(cells.size());
      if (cells.size() > kMaxKinds)
        algebra_.refuse("patternProperties", set_.location, "too many patterns overlap");
    }
    for (Cell& cell : cells) {
      if (!cell.found) cell.value = algebra_.both(cell.value, group->others);
    }
    std::erase_if(cells, [&](const Cell& cell) { return cell.value == kNothing; });
  }
  for (const Cell& cell : cells) {
    if (algebra_.is_empty(cell.value) || (may_be_empty && text.is_empty(cell.names))) continue;
    add_satisfying(other_kinds_, {cell.names, cell.value});
  }
}

void ObjectRules::find_sizes() {
  uint64_t possible = 0;
  for (const Name& name : names_) possible += name.kinds.empty() ? 0 : 1;
  min_ = set_.min <= set_.required.size() ? 0 : set_.min;
  max_ = other_kinds_.empty() && set_.max >= possible ? kNoLimit : set_.max;
  counted_ = max_ != kNoLimit ? max_ : min_;
  if (counted_ > kMaxCounted)
    algebra_.refuse("minProperties or maxProperties", set_.location, "it is too large");
}

Symbol ObjectRules::member(const MemberKind& kind) {
  const auto [place, inserted] = members_.try_emplace({kind.names, kind.value}, Symbol{});
  if (inserted) {
    place->second = builder_.sequence({grammar_.key(kind.names), grammar_.value(kind.value)});
  }
  return place->second;
}

Symbol ObjectRules::others(bool is_first, uint64_t count, unsigned satisfied) {
  std::vector<Symbol> choices;
  if (count >= min_ && satisfied == all_satisfied_) {
    choices.push_back(is_first ? grammar_.close('}', true) : close_);
  }
  if (count >= max_) return builder_.choice(std::move(choices));
  for (const MemberKind& kind : other_kinds_) {
    if ((satisfied & kind.satisfied) != 0) continue;
    std::vector<Symbol> parts = {member(kind), after_names(add(count), satisfied | kind.satisfied)};
    if (!is_first) parts.insert(parts.begin(), grammar_.comma());
    choices.push_back(builder_.sequence(std::move(parts)));
  }
  return builder_.choice(std::move(choices));
}

Symbol ObjectRules::after_names(uint64_t count, unsigned satisfied) {
  const auto known = other_states_.find(state(count, satisfied));
  if (known != other_states_.end()) return known->second;
  grammar_.count_rule();
  const bool only_repeats =
      satisfied == all_satisfied_ && (counted_ == 0 || max_ == kNoLimit) && count >= min_;
  if (only_repeats) {
    std::vector<Symbol> kinds;
    for (const MemberKind& kind : other_kinds_) {
      if (kind.satisfied == 0) kinds.push_back(member(kind));
    }
    const Symbol result =
        kinds.empty()
            ? close_
            : builder_.sequence(
                  {builder_.repeat(builder_.sequence({grammar_.comma(), builder_.choice(kinds)}), 0,
                                   Expressions::kUnbounded),
                   close_});
    other_states_.emplace(state(count, satisfied), result);
    return result;
  }
  const Symbol symbol = builder_.declare("members");
  other_states_.emplace(state(count, satisfied), symbol);
  builder_.define(symbol, others(false, count, satisfied));
  return symbol;
}

Symbol ObjectRules::write() {
  const size_t states = state(counted_, all_satisfied_) + 1;
  std::vector<Symbol> tails(states);  // behind at least one member
  for (uint64_t count = 0; count <= counted_; ++count) {
    for (unsigned satisfied = 0; satisfied <= all_satisfied_; ++satisfied) {
      tails[state(count, satisfied)] = after_names(count, satisfied);
    }
  }
  Symbol first = others(true, 0, 0);
  for (size_t i = names_.size(); i-- > 0;) {
    const Name& name = names_[i];
    if (name.kinds.empty() && !name.required) continue;
    std::vector<Symbol> next_tails(states);
    for (uint64_t count = 0; count <= counted_; ++count) {
      for (unsigned satisfied = 0; satisfied <= all_satisfied_; ++satisfied) {
        std::vector<Symbol> choices;
        if (!name.required) choices.push_back(tails[state(count, satisfied)]);
        for (const MemberKind& kind : name.kinds) {
          if (count >= max_ || (satisfied & kind.satisfied) != 0) continue;
          choices.push_back(
              builder_.sequence({grammar_.comma(), member(kind),
                                 tails[state(add(count), satisfied | kind.satisfied)]}));
        }
        grammar_.count_rule();
        next_tails[state(count, satisfied)] = builder_.choice(std::move(choices));
      }
    }
    std::vector<Symbol> choices;
    if (!name.required) choices.push_back(first);
    for (const MemberKind& kind : name.kinds) {
      if (max_ == 0) continue;
      choices.push_back(builder_.sequence({member(kind), tails[state(add(0), kind.satisfied)]}));
    }
    first = builder_.choice(std::move(choices));
    tails = std::move(next_tails);
  }
  return first;
}

}  // namespace

Symbol SchemaGrammar::object(const ObjectSet& set) { return ObjectRules(*this, set).write(); }

}  // namespace heed::constrain

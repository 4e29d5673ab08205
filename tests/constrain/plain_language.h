#pragma once

#include <bitset>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "heed/constrain/expressions.h"

namespace heed::constrain {

/// A language over the letters a and b, as the set of its texts of at most kMaxLength letters:
/// follows the definitions, to compare with.
class PlainLanguage {
 public:
  static constexpr size_t kMaxLength = 6;
  static constexpr size_t kTexts = (size_t{1} << (kMaxLength + 1)) - 1;

  /// All texts: text i is the binary digits of i + 1 below the first, as letters.
  static const std::vector<std::string>& texts() {
    static const std::vector<std::string> all = [] {
      std::vector<std::string> result;
      for (size_t i = 0; i < kTexts; ++i) {
        std::string text;
        for (size_t rest = i + 1; rest > 1; rest /= 2) text.insert(0, rest % 2 == 0 ? "a" : "b");
        result.push_back(text);
      }
      return result;
    }();
    return all;
  }
  static size_t index(std::string_view text) {
    size_t number = 1;
    for (const char letter : text) number = number * 2 + (letter == 'b' ? 1 : 0);
    return number - 1;
  }

  bool contains(size_t text) const { return texts_[text]; }
  bool empty() const { return texts_.none(); }
  void add(std::string_view text) { texts_.set(index(text)); }

  PlainLanguage operator|(const PlainLanguage& other) const { return {texts_ | other.texts_}; }
  PlainLanguage operator&(const PlainLanguage& other) const { return {texts_ & other.texts_}; }
  PlainLanguage operator~() const { return {~texts_}; }
  PlainLanguage followed_by(const PlainLanguage& other) const {
    PlainLanguage result;
    for (size_t i = 0; i < kTexts; ++i) {
      if (!texts_[i]) continue;
      for (size_t j = 0; j < kTexts; ++j) {
        if (!other.texts_[j]) continue;
        const std::string text = texts()[i] + texts()[j];
        if (text.size() <= kMaxLength) result.add(text);
      }
    }
    return result;
  }
  PlainLanguage repeated(uint32_t min, uint32_t max) const {
    PlainLanguage power, result;
    power.add("");
    // More than kMaxLength further factors change no short text that is not the same without them.
    const uint32_t last = std::min<uint32_t>(max, min + kMaxLength + 1);
    for (uint32_t count = 0; count <= last; ++count) {
      if (count >= min) result = result | power;
      power = power.followed_by(*this);
    }
    return result;
  }
  bool operator==(const PlainLanguage&) const = default;

  PlainLanguage() = default;
  PlainLanguage(const std::bitset<kTexts>& texts) : texts_(texts) {}

 private:
  std::bitset<kTexts> texts_;
};

/// A context-free grammar by definition: what its rules derive, found by applying them until
/// nothing new is found.
class PlainGrammar {
 public:
  /// A terminal if it has a language, else a rule.
  struct Part {
    std::optional<PlainLanguage> terminal;
    size_t rule = 0;
  };
  /// [rules][alternatives][parts]
  std::vector<std::vector<std::vector<Part>>> rules;

  PlainLanguage language_of_first_rule() const {
    std::vector<PlainLanguage> languages(rules.size());
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t rule = 0; rule < rules.size(); ++rule) {
        PlainLanguage found = languages[rule];
        for (const std::vector<Part>& alternative : rules[rule]) {
          PlainLanguage text;
          text.add("");
          for (const Part& part : alternative) {
            text = text.followed_by(part.terminal ? *part.terminal : languages[part.rule]);
          }
          found = found | text;
        }
        changed = changed || !(found == languages[rule]);
        languages[rule] = found;
      }
    }
    return languages[0];
  }
};

/// Makes random expressions, and their languages by definition.
class RandomLanguage {
 public:
  using Pair = std::pair<ExpressionId, PlainLanguage>;
  RandomLanguage(Expressions& expressions, uint32_t seed)
      : expressions_(expressions), random_(seed) {}

  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }

  Pair expression(int depth) {
    switch (depth == 0 ? below(2) : below(9)) {
      case 0:
        return bytes();
      case 1:
        return literal();
      case 2:
      case 3: {
        const Pair first = expression(depth - 1), second = expression(depth - 1);
        return {expressions_.concatenate(first.first, second.first),
                first.second.followed_by(second.second)};
      }
      case 4:
      case 5: {
        const Pair first = expression(depth - 1), second = expression(depth - 1);
        return {expressions_.alternate(first.first, second.first), first.second | second.second};
      }
      case 6: {
        const Pair first = expression(depth - 1), second = expression(depth - 1);
        return {expressions_.intersect(first.first, second.first), first.second & second.second};
      }
      case 7: {
        const Pair part = expression(depth - 1);
        return {expressions_.complement(part.first), ~part.second};
      }
      default: {
        const Pair part = expression(depth - 1);
        const uint32_t min = below(3);
        const uint32_t max = below(3) == 0 ? Expressions::kUnbounded : min + below(4);
        return {expressions_.repeat(part.first, min, max), part.second.repeated(min, max)};
      }
    }
  }

 private:
  Pair bytes() {
    const uint32_t members = 1 + below(3);
    ByteSet set;
    PlainLanguage language;
    if ((members & 1) != 0) set.add('a'), language.add("a");
    if ((members & 2) != 0) set.add('b'), language.add("b");
    return {expressions_.bytes(set), language};
  }
  Pair literal() {
    std::string text;
    for (uint32_t length = below(4); text.size() < length;) text += below(2) == 0 ? 'a' : 'b';
    PlainLanguage language;
    language.add(text);
    return {expressions_.literal(text), language};
  }

  Expressions& expressions_;
  std::mt19937 random_;
};

}  // namespace heed::constrain

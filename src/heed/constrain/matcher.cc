#include "heed/constrain/matcher.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::constrain {
namespace {

// Bytes of a text that may take as many steps as a mask.
constexpr size_t kBytesOfLimit = 256;

// The byte that must come next, if there is only one.
std::optional<uint8_t> only_next_byte(Recognizer& recognizer, uint32_t state) {
  const Expressions::ByteClasses& classes = recognizer.lexer().byte_classes();
  std::optional<uint8_t> only;
  for (size_t i = 0; i < classes.representative.size(); ++i) {
    const auto byte_class = static_cast<uint8_t>(i);
    if (recognizer.next_in_class(state, byte_class) == Recognizer::kDead) continue;
    if (only || std::ranges::count(classes.class_of, byte_class) > 1) return std::nullopt;
    only = classes.representative[i];
  }
  return only;
}

// Bytes in words: `"a"-"z", "_", white space`.
std::string described(const ByteSet& set) {
  std::vector<std::string> parts;
  const auto add_range = [&](int first, int last) {
    const auto name = [](int byte) { return quoted(std::string(1, static_cast<char>(byte))); };
    for (int byte = first; byte <= last; ++byte) {
      if (!set.contains(static_cast<uint8_t>(byte))) continue;
      const int begin = byte;
      while (byte < last && set.contains(static_cast<uint8_t>(byte + 1))) ++byte;
      parts.push_back(begin == byte ? name(begin) : fmt::format("{}-{}", name(begin), name(byte)));
    }
  };
  add_range('!', '~');
  const bool has_space = set.contains(' ') || set.contains('\t') || set.contains('\n');
  if (has_space) parts.push_back("white space");
  if (!(set & ByteSet::range(0x80, 0xFE)).empty()) parts.push_back("characters beyond ASCII");
  if (set.contains(kSpecialMark)) parts.push_back("a special token");
  return parts.empty() ? "the end" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

Matcher::Matcher(std::shared_ptr<const Constraint> constraint,
                 std::shared_ptr<const Vocabulary> vocabulary)
    : constraint_(std::move(constraint)),
      vocabulary_(std::move(vocabulary)),
      steps_(1, {0, Recognizer::kDead, false}) {
  with_automaton([&](Automaton& automaton) { automaton.masks(vocabulary_); });
}

// Calls `use` with an automaton that the states of steps_ belong to.
void Matcher::with_automaton(const std::function<void(Automaton&)>& use) {
  constraint_->with_automaton([&](Automaton& automaton, uint64_t number) {
    if (automaton_ != number) {
      replay(automaton.recognizer());
      automaton_ = number;
      automaton.recognizer().lexer().expressions().restart_steps();
    }
    use(automaton);
  });
}

void Matcher::replay(Recognizer& recognizer) {
  uint32_t state = recognizer.start();
  size_t position = 0;
  for (Step& step : steps_) {
    recognizer.lexer().expressions().restart_steps();
    for (; position < step.text_size; ++position) {
      state = recognizer.next(state, static_cast<uint8_t>(text_[position]));
    }
    step.state = state;
  }
}

void Matcher::mask(std::span<uint64_t> bits) {
  require(bits.size() == vocabulary_->mask_words(), "a mask of {} words, expected {}", bits.size(),
          vocabulary_->mask_words());
  if (current().ended) {
    std::ranges::fill(bits, 0);
    return;
  }
  with_automaton([&](Automaton& automaton) {
    automaton.masks(vocabulary_).mask(current().state, bits);
    if (!automaton.recognizer().accepting(current().state)) return;
    for (const int32_t token : vocabulary_->end_tokens()) {
      bits[static_cast<size_t>(token) / 64] |= uint64_t{1} << (token % 64);
    }
  });
}

bool Matcher::accept(int32_t token) {
  require(token >= 0 && token < vocabulary_->size(), "token {} is none of {} ids", token,
          vocabulary_->size());
  if (vocabulary_->is_end_token(token)) {
    if (current().ended || !is_accepting()) return false;
    steps_.push_back({text_.size(), current().state, true});
    return true;
  }
  const std::string_view bytes = vocabulary_->bytes(token);
  if (bytes.empty() || accept_bytes(bytes) != bytes.size()) return false;
  if (can_be_spelled_on()) return true;
  rollback(1);
  return false;
}

// Whether tokens lead from here to an end.
bool Matcher::can_be_spelled_on() {
  bool result = false;
  with_automaton([&](Automaton& automaton) {
    result = automaton.masks(vocabulary_).can_end(current().state);
  });
  return result;
}

size_t Matcher::accept_bytes(std::string_view bytes) {
  if (current().ended) return 0;
  size_t accepted = 0;
  uint32_t state = Recognizer::kDead;
  with_automaton([&](Automaton& automaton) {
    state = current().state;
    for (accepted = 0; accepted < bytes.size(); ++accepted) {
      // A token is short; a text of many takes longer than one.
      if (accepted % kBytesOfLimit == 0)
        automaton.recognizer().lexer().expressions().restart_steps();
      state = automaton.recognizer().next(state, static_cast<uint8_t>(bytes[accepted]));
      if (state == Recognizer::kDead) break;
    }
  });
  if (accepted == bytes.size()) {
    text_ += bytes;
    steps_.push_back({text_.size(), state, false});
  }
  return accepted;
}

void Matcher::rollback(size_t steps) {
  require(steps < steps_.size(), "a rollback of {} steps where there were {}", steps,
          steps_.size() - 1);
  steps_.resize(steps_.size() - steps);
  text_.resize(current().text_size);
}

bool Matcher::is_accepting() {
  bool result = false;
  with_automaton(
      [&](Automaton& automaton) { result = automaton.recognizer().accepting(current().state); });
  return result;
}

bool Matcher::is_complete() {
  bool result = false;
  with_automaton([&](Automaton& automaton) {
    const uint32_t state = current().state;
    result =
        automaton.recognizer().accepting(state) && automaton.recognizer().threads(state).empty();
  });
  return result || current().ended;
}

// The bytes that may come next behind bytes that may.
ByteSet Matcher::next_bytes(std::string_view behind) {
  ByteSet next;
  with_automaton([&](Automaton& automaton) {
    Recognizer& recognizer = automaton.recognizer();
    uint32_t state = current().state;
    for (const char byte : behind) state = recognizer.next(state, static_cast<uint8_t>(byte));
    next = ByteSet();
    for (int byte = 0; byte < 256; ++byte) {
      const auto each = static_cast<uint8_t>(byte);
      if (recognizer.next(state, each) != Recognizer::kDead) next.add(each);
    }
  });
  return next;
}

std::string Matcher::why_forbidden(int32_t token) {
  require(token >= 0 && token < vocabulary_->size(), "token {} is none of {} ids", token,
          vocabulary_->size());
  if (current().ended) return "the text has ended";
  if (vocabulary_->is_end_token(token)) return is_accepting() ? "" : "the text cannot end here";
  const std::string_view bytes = vocabulary_->bytes(token);
  if (bytes.empty() || has_special_mark(bytes.substr(0, 1)))
    return accept(token) ? (rollback(1), "") : "a token without text cannot follow";
  const size_t allowed = accept_bytes(bytes);
  if (allowed == bytes.size()) {
    const bool is_dead_end = !can_be_spelled_on();
    rollback(1);
    return is_dead_end ? "no tokens spell what must follow it" : "";
  }
  const std::string_view before = bytes.substr(0, allowed);
  const std::string behind = before.empty() ? "" : fmt::format(" behind {}", quoted(before));
  return fmt::format("{} cannot follow{}; expected {}", quoted(bytes.substr(allowed, 1)), behind,
                     described(next_bytes(before)));
}

bool Matcher::can_end_within(int64_t tokens) {
  if (current().ended) return true;
  uint32_t length = 0;
  with_automaton(
      [&](Automaton& automaton) { length = automaton.shortest_text().length(current().state); });
  if (length <= tokens && (length == 0 || vocabulary_->has_every_byte())) return true;
  if (length > tokens * static_cast<int64_t>(vocabulary_->max_token_bytes())) return false;
  const std::string text = shortest_text();
  for (std::string_view rest = text; !rest.empty(); --tokens) {
    const std::optional<int32_t> token = vocabulary_->longest_token(rest);
    if (!token || tokens == 0) return false;
    rest.remove_prefix(vocabulary_->bytes(*token).size());
  }
  return true;
}

int32_t Matcher::closing_token() {
  const std::optional<int32_t> token = vocabulary_->longest_token(shortest_text());
  require(token.has_value(), "no token spells the shortest text that satisfies the constraint");
  return *token;
}

std::string Matcher::shortest_text() {
  std::string text;
  with_automaton(
      [&](Automaton& automaton) { text = automaton.shortest_text().text(current().state); });
  return text;
}

std::string Matcher::forced_bytes(size_t limit) {
  std::string result;
  if (current().ended) return result;
  with_automaton([&](Automaton& automaton) {
    Recognizer& recognizer = automaton.recognizer();
    result.clear();
    for (uint32_t state = current().state; result.size() < limit && !recognizer.accepting(state);) {
      const std::optional<uint8_t> byte = only_next_byte(recognizer, state);
      if (!byte) break;
      result.push_back(static_cast<char>(*byte));
      state = recognizer.next(state, *byte);
    }
  });
  return result;
}

}  // namespace heed::constrain

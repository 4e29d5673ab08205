#include "heed/constrain/matcher.h"

#include <algorithm>
#include <optional>

#include "heed/base/error.h"

namespace heed::constrain {
namespace {

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
    }
    use(automaton);
  });
}

void Matcher::replay(Recognizer& recognizer) {
  uint32_t state = recognizer.start();
  size_t position = 0;
  for (Step& step : steps_) {
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
  return !bytes.empty() && accept_bytes(bytes) == bytes.size();
}

size_t Matcher::accept_bytes(std::string_view bytes) {
  if (current().ended) return 0;
  size_t accepted = 0;
  uint32_t state = Recognizer::kDead;
  with_automaton([&](Automaton& automaton) {
    state = current().state;
    for (accepted = 0; accepted < bytes.size(); ++accepted) {
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

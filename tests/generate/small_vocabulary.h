#pragma once

#include <memory>
#include <string>
#include <vector>

#include "heed/constrain/vocabulary.h"

namespace heed::generate {

/// What the tokens of small_decoder() might stand for; token 0 ends an output, and some have no
/// bytes.
inline std::vector<std::string> small_pieces() {
  std::vector<std::string> pieces{"",     "\"", "{",   "}",   ":",     ",",   "[",    "]",
                                  " ",    "-",  ".",   "\":", "\",\"", "{\"", "true", "false",
                                  "null", "12", "345", "ab",  "abc",   "bc"};
  for (char c = '0'; c <= '9'; ++c) pieces.emplace_back(1, c);
  for (char c = 'a'; c <= 'u'; ++c) pieces.emplace_back(1, c);
  pieces.resize(60);
  return pieces;
}

inline std::shared_ptr<const constrain::Vocabulary> small_vocabulary() {
  static const auto vocabulary = constrain::Vocabulary::of(small_pieces(), {0});
  return vocabulary;
}

inline std::string small_text(const std::vector<int32_t>& tokens) {
  std::string text;
  for (const int32_t token : tokens) text += small_pieces()[static_cast<size_t>(token)];
  return text;
}

}  // namespace heed::generate

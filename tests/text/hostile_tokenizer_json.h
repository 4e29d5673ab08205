#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "heed/base/json.h"
#include "heed/text/tokenizer.h"
#include "tests/base/cost.h"

namespace heed::text {

inline constexpr size_t kHostileText = kSanitized ? 1 << 14 : 1 << 20;
inline const std::string kLongPiece = std::string(kHostileBytes - 1000, 'a') + 'b';

/// A tokenizer.json with these parts. Without a model among them, it gets a BPE model of a few
/// letters.
inline nlohmann::json tokenizer_json(nlohmann::json parts = nlohmann::json::object()) {
  if (!parts.contains("model"))
    parts["model"] = {{"type", "BPE"},
                      {"vocab", {{"<unk>", 0}, {"a", 1}, {"b", 2}, {" ", 3}}},
                      {"unk_token", "<unk>"},
                      {"merges", nlohmann::json::array()}};
  return parts;
}

/// Reads a tokenizer from the text of its file, encodes `text` and decodes the result.
inline void use_tokenizer(const nlohmann::json& json, const std::string& text) {
  const std::string file = json.dump();
  const Tokenizer tokenizer =
      Tokenizer::from_json(parse_json(file, "tokenizer.json"), "tokenizer.json");
  tokenizer.decode(tokenizer.encode(text));
}

inline void expect_cheap_tokenizer(const nlohmann::json& json,
                                   const std::string& text = std::string(kHostileText, 'a')) {
  expect_cheap([&] { use_tokenizer(json, text); });
}

inline void expect_refused_tokenizer(const nlohmann::json& json, const std::string& part,
                                     const std::string& text = std::string(kHostileText, 'a')) {
  expect_cheap_error([&] { use_tokenizer(json, text); }, part);
}

}  // namespace heed::text

#pragma once

#include <nlohmann/json.hpp>

#include "tests/train/language_run.h"
#include "tests/train/same_bits.h"

namespace heed::train::testing {

/// Lines of words and what they are in another language, which share no letters.
inline void write_pairs(const TemporaryDirectory& folder, int lines = 64) {
  const char* const words[][2] = {{"one", "uk"},    {"two", "dy"},  {"red", "vaj"},
                                  {"sun", "miz"},   {"sea", "pog"}, {"bread", "luf"},
                                  {"light", "quv"}, {"man", "jyk"}};
  std::ofstream file(folder / "pairs.jsonl");
  for (int i = 0; i < lines; ++i) {
    const auto &a = words[i % 8], &b = words[i / 8 % 8];
    file << nlohmann::json{{"query", fmt::format("{} {}", a[0], b[0])},
                           {"document", fmt::format("{} {}", a[1], b[1])},
                           {"negative", fmt::format("{} {}", b[1], a[1])},
                           {"score", i % 8 / 8.0}}
         << '\n';
  }
}

/// The same with a teacher's scores of the document and the negative.
inline void write_scored_pairs(const TemporaryDirectory& folder, int lines = 64) {
  write_pairs(folder, lines);
  std::ifstream old(folder / "pairs.jsonl");
  std::vector<nlohmann::json> all;
  for (std::string line; std::getline(old, line);) all.push_back(nlohmann::json::parse(line));
  old.close();
  std::ofstream file(folder / "pairs.jsonl");
  for (size_t i = 0; i < all.size(); ++i) {
    all[i]["scores"] = {3.0 + static_cast<double>(i % 3), 1.0};
    all[i].erase("score");
    file << all[i] << '\n';
  }
}

inline TrainConfig embed_config(const TemporaryDirectory& folder) {
  write_pairs(folder);
  TrainConfig config = masked_config(folder);
  config.model.head_transform = config.model.has_head = config.model.head_bias = false;
  config.model.tied_head = true;
  config.model.dropout = 0.1f;
  config.run.task = TaskKind::embed;
  config.data.document = data::DocumentEnd::file;
  config.data.text = (folder / "pairs.jsonl").string();
  config.data.held_out = 6;
  return config;
}

}  // namespace heed::train::testing

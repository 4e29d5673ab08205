#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "heed/engine/loaded_model.h"

namespace heed::engine {

/// Scores of documents for a query by a language model, as tasks::LogitScore says.
class LogitScorer {
 public:
  /// The model must outlive it. Throws Error when it has no LogitScore, no chat template or no
  /// vocabulary head.
  LogitScorer(const LoadedModel& model, const ClassifyOptions& options);

  /// The tokens of the prompt about a document.
  std::vector<int32_t> tokens(const std::string& query, const std::string& document) const;
  /// The largest number that is read; 0: not limited.
  int64_t max_tokens() const { return max_tokens_; }

  /// A score for each document. Throws Error on a prompt of more than max_tokens(), naming the
  /// first such document (counted from `first_number`), and when logits are not finite.
  std::vector<double> scores(const std::string& query, std::span<const std::string> documents,
                             int64_t first_number) const;

 private:
  void run(std::span<const int64_t> members, const std::vector<std::vector<int32_t>>& prompts,
           std::vector<double>& scores) const;

  const LoadedModel& model_;
  const tasks::LogitScore& score_;
  std::optional<chat::ChatTemplate> own_template_;  // of the LogitScore
  ClassifyOptions options_;
  int64_t max_tokens_;
};

}  // namespace heed::engine

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace heed::data {

/// Tokenised texts, shared by the datasets for training and evaluation.
using Documents = std::shared_ptr<const std::vector<std::vector<int32_t>>>;

/// Tokens [begin, end) of a document: one sequence for the model.
struct Window {
  int64_t document = 0, begin = 0, end = 0;

  int64_t length() const { return end - begin; }
  bool operator==(const Window&) const = default;
};

/// Splits every document into windows of `max_length` tokens; the last window of a document may be
/// shorter. Each token is in exactly one window. Throws Error when `max_length` is below 1.
std::vector<Window> cut_into_windows(const std::vector<std::vector<int32_t>>& documents,
                                     int64_t max_length);

/// The tokens of a window.
std::span<const int32_t> tokens_of(const Documents& documents, const Window& window);

}  // namespace heed::data

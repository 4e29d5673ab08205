#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace heed::data {

/// Texts as tokens, shared by those who train on one part of them and those who are judged by
/// another.
using Documents = std::shared_ptr<const std::vector<std::vector<int32_t>>>;

/// The stretch [begin, end) of a document: what a model reads as one sequence.
struct Window {
  int64_t document = 0, begin = 0, end = 0;

  int64_t length() const { return end - begin; }
  bool operator==(const Window&) const = default;
};

/// Cuts every document into windows of `longest` tokens; the last takes what is left. Each token is
/// in exactly one window. Throws Error when `longest` is below 1.
std::vector<Window> cut_into_windows(const std::vector<std::vector<int32_t>>& documents,
                                     int64_t longest);

/// The tokens of a window.
std::span<const int32_t> tokens_of(const Documents& documents, const Window& window);

/// Throws Error when `index` is not one of `windows`.
const Window& window_at(const std::vector<Window>& windows, int64_t index);

}  // namespace heed::data

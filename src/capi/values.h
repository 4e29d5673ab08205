#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "capi/call.h"

namespace heed::capi {

/// Texts and arrays of callers have at most so many bytes or elements.
constexpr size_t kMaxCount = INT32_MAX;

/// An array of a caller. Throws StatusError when it is too long, and when it is NULL and not empty.
template <typename T>
std::span<const T> span_of(const T* values, size_t count, const char* name) {
  require_argument(count <= kMaxCount, "{} has {} elements, expected at most {}", name, count,
                   kMaxCount);
  require_argument(values != nullptr || count == 0, "{} is NULL", name);
  return {values, count};
}

/// A text of a caller. Throws StatusError when it is NULL or too long.
inline std::string_view text_of(heed_string text, const char* name) {
  require_pointer(text.data, name);
  require_argument(text.size <= kMaxCount, "{} has {} bytes, expected at most {}", name, text.size,
                   kMaxCount);
  return {text.data, text.size};
}

inline std::vector<std::string> texts_of(const heed_string* texts, size_t count, const char* name) {
  std::vector<std::string> all;
  for (const heed_string& text : span_of(texts, count, name)) all.emplace_back(text_of(text, name));
  return all;
}

/// A text that ends with NUL; empty if it is NULL.
inline std::string text_or_empty(const char* text) { return text ? text : ""; }

/// A text of heed's for a caller.
inline heed_string string_of(std::string_view text) { return {text.data(), text.size()}; }

/// One of `last` + 1 enumerators, or none for HEED_DEFAULT.
template <typename Enum>
std::optional<Enum> choice(int32_t value, Enum last, const char* name) {
  if (value == -1) return std::nullopt;
  require_argument(value >= 0 && value <= static_cast<int32_t>(last),
                   "{} is {}, expected 0 to {}, or HEED_DEFAULT", name, value,
                   static_cast<int32_t>(last));
  return static_cast<Enum>(value);
}

/// Element `index` of a result.
template <typename T>
const T& element(const std::vector<T>& all, size_t index, const char* name = "index") {
  require_argument(index < all.size(), "{} is {}, expected less than {}", name, index, all.size());
  return all[index];
}

/// Copies to a buffer of a caller. `count` becomes the number of elements in any case. Throws
/// StatusError when they do not fit.
template <typename T>
void copy_out(std::span<const T> values, T* buffer, size_t capacity, size_t* count) {
  require_pointer(count, "the pointer to the count");
  *count = values.size();
  if (capacity < values.size())
    throw StatusError(
        HEED_ERROR_BUFFER_TOO_SMALL,
        fmt::format("the buffer has room for {} elements, needed are {}", capacity, values.size()));
  if (values.empty()) return;
  require_pointer(buffer, "the buffer");
  std::copy(values.begin(), values.end(), buffer);
}

/// The same for a text with a NUL behind it, which `size` leaves out.
inline void copy_text_out(const std::string& text, char* buffer, size_t capacity, size_t* size) {
  require_pointer(size, "the pointer to the size");
  *size = text.size();
  if (capacity <= text.size())
    throw StatusError(
        HEED_ERROR_BUFFER_TOO_SMALL,
        fmt::format("the buffer has room for {} bytes, needed are {}", capacity, text.size() + 1));
  require_pointer(buffer, "the buffer");
  std::copy(text.c_str(), text.c_str() + text.size() + 1, buffer);
}

/// Texts, each on a line of its own.
inline std::string lines_of(const std::vector<std::string>& texts) {
  std::string lines;
  for (const std::string& text : texts) lines += text + '\n';
  return lines;
}

/// Throws the StatusError of a callback that returned non-zero.
[[noreturn]] inline void fail_cancelled() {
  throw StatusError(HEED_ERROR_CANCELLED, "a callback returned non-zero");
}

}  // namespace heed::capi

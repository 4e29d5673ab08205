#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::generate {

/// Finds the first stop string in a text that arrives in pieces.
class StopStrings {
 public:
  /// Empty strings are ignored.
  explicit StopStrings(std::vector<std::string> strings);

  /// Appends `text` and returns the part that is now certain not to belong to a stop string. The
  /// call that completes a stop string returns the text before it; later calls return nothing.
  /// Hidden text, such as that of special tokens, is searched but not returned.
  std::string feed(std::string_view text, bool hidden = false);
  /// The text still held back, to be called at the end of the text.
  std::string finish();
  /// The stop string that was found; of several at the same place, the first in the list.
  const std::optional<std::string>& found() const { return found_; }

 private:
  size_t held_size() const;
  std::string release(size_t size);

  std::vector<std::string> strings_;
  std::string held_;
  std::vector<bool> hidden_;  // for each byte of held_
  std::optional<std::string> found_;
};

}  // namespace heed::generate

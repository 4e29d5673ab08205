#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::generate {

/// Finds the first occurrence of any of some strings in a text that arrives in pieces.
class StopStrings {
 public:
  /// Empty ones are ignored.
  explicit StopStrings(std::vector<std::string> strings);

  /// The next part of the text that cannot belong to a stop string. Once stopped(): the text before
  /// the stop string, then nothing more.
  std::string feed(std::string_view text);
  /// The text that is still held back, at the end.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  size_t held_size() const;

  std::vector<std::string> strings_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace heed::generate

#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::generate {

/// Watches a text that comes in pieces for the first of some strings, wherever pieces end.
class StopStrings {
 public:
  /// Empty ones are ignored.
  explicit StopStrings(std::vector<std::string> strings);

  /// The part of the text so far that was not given yet and belongs to no stop string, nor to what
  /// may still become one. Once stopped(): what stood before the stop string, then nothing more.
  std::string feed(std::string_view text);
  /// What is still held back at the end of the text.
  std::string finish();
  bool stopped() const { return stopped_; }

 private:
  size_t held_size() const;

  std::vector<std::string> strings_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace heed::generate

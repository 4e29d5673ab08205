#include <algorithm>

#include "heed/text/tokenizer.h"

namespace heed::text {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";

/// Without the U+FFFD at the end, where the rest of a code point may yet come.
size_t certain_size(std::string_view text) {
  while (text.ends_with(kReplacement)) text.remove_suffix(kReplacement.size());
  return text.size();
}

}  // namespace

std::string DecodeStream::advance(bool last) {
  // An unfinished code point is at most three bytes, so pieces that wait in greater number never
  // become one.
  constexpr size_t kMostWaiting = 8;
  std::string text = tokenizer_.decode(ids_, skip_special_);
  if (!text.starts_with(given_)) {
    // What is given stays; the new pieces go on without it.
    ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(context_));
    context_ = 0;
    given_.clear();
    text = tokenizer_.decode(ids_, skip_special_);
  }
  const size_t certain = last || waiting_ > kMostWaiting ? text.size() : certain_size(text);
  if (certain <= given_.size()) return {};
  std::string fresh = text.substr(given_.size(), certain - given_.size());
  waiting_ = 0;
  if (certain < text.size()) {
    given_ = text.substr(0, certain);
    return fresh;
  }
  // The new pieces are the context of the next: pieces at the beginning of a text are decoded in
  // another way than in the middle.
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(context_));
  context_ = ids_.size();
  given_ = tokenizer_.decode(ids_, skip_special_);
  return fresh;
}

std::string DecodeStream::feed(int32_t id) {
  ids_.push_back(id);
  ++waiting_;
  return advance(false);
}

std::string DecodeStream::finish() {
  std::string rest = advance(true);
  *this = DecodeStream(tokenizer_, skip_special_);
  return rest;
}

}  // namespace heed::text

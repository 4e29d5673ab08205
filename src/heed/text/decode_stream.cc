#include <algorithm>
#include <utility>

#include "heed/text/tokenizer.h"

namespace heed::text {
namespace {

constexpr std::string_view kReplacement = "\uFFFD";
/// Pieces of spaces that are kept with the word before them.
constexpr size_t kMaxContext = 64;

/// Size of the text without trailing U+FFFD, which later pieces may complete to a code point.
size_t certain_size(std::string_view text) {
  while (text.ends_with(kReplacement)) text.remove_suffix(kReplacement.size());
  return text.size();
}

}  // namespace

std::string DecodeStream::advance(bool last) {
  // An unfinished code point has at most three bytes; more waiting pieces never complete it.
  constexpr size_t kMaxWaiting = 8;
  std::string text = tokenizer_.decode(ids_, skip_special_);
  if (!text.starts_with(returned_)) {
    // Text that was returned cannot be taken back: decode the new pieces on their own.
    ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(context_));
    context_ = 0;
    returned_.clear();
    text = tokenizer_.decode(ids_, skip_special_);
  }
  const size_t certain = last || waiting_ > kMaxWaiting ? text.size() : certain_size(text);
  if (certain <= returned_.size()) {
    // Pieces that have not become text by now, such as special ones, never do.
    if (waiting_ > kMaxWaiting) ids_.resize(ids_.size() - std::exchange(waiting_, 0));
    return {};
  }
  std::string fresh = text.substr(returned_.size(), certain - returned_.size());
  waiting_ = 0;
  if (certain < text.size()) {
    returned_ = text.substr(0, certain);
    return fresh;
  }
  // The new pieces become the context of the next ones, because a piece decodes differently at the
  // beginning of a text than in the middle. Spaces alone would still be its beginning.
  const std::vector<int32_t> added(ids_.begin() + static_cast<std::ptrdiff_t>(context_),
                                   ids_.end());
  std::string own = tokenizer_.decode(added, skip_special_);
  if (ids_.size() < kMaxContext && own.find_first_not_of(' ') == std::string::npos) {
    returned_ = std::move(text);
  } else {
    ids_ = added;
    returned_ = std::move(own);
  }
  context_ = ids_.size();
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

#include "heed/generate/speculation/ngram_drafts.h"

namespace heed::generate {
namespace {

/// Earlier occurrences that are compared, the newest first.
constexpr int kMaxCandidates = 64;

uint64_t pair_of(int32_t first, int32_t second) {
  return static_cast<uint64_t>(static_cast<uint32_t>(first)) << 32 | static_cast<uint32_t>(second);
}

}  // namespace

void NgramDrafts::History::append(std::span<const int32_t> more) {
  static_assert(kMinMatch == 2);
  for (const int32_t token : more) {
    const auto end = static_cast<int64_t>(tokens.size());
    int64_t before = -1;
    if (end > 0) {
      const auto [place, added] = last_end.try_emplace(pair_of(tokens.back(), token), end);
      if (!added) before = std::exchange(place->second, end);
    }
    tokens.push_back(token);
    earlier.push_back(before);
  }
}

size_t NgramDrafts::History::find_match() {
  size_t longest = 0;
  int64_t place = earlier.back();
  for (int tried = 0; place >= 0 && tried < kMaxCandidates && longest < kMaxMatch; ++tried) {
    size_t length = kMinMatch;
    while (length < kMaxMatch && length <= static_cast<size_t>(place) &&
           tokens[static_cast<size_t>(place) - length] == tokens[tokens.size() - 1 - length])
      ++length;
    if (length > longest) {
      longest = length;
      match = place;
    }
    place = earlier[static_cast<size_t>(place)];
  }
  return longest;
}

int NgramDrafts::kind(const DraftRequest& request) {
  History& history = histories_[request.id];
  if (history.tokens.empty()) {
    history.append(request.source);
    history.append(request.decoding.prompt());
    history.given = history.tokens.size();
  }
  const std::span<const int32_t> output = request.decoding.sequences().front().tokens;
  history.append(output.subspan(history.tokens.size() - history.given));
  const size_t length = history.find_match();
  return length == 0 ? 0 : static_cast<int>(length) - 1;
}

/// Beyond the newest token the draft continues with itself, as a text does that repeats itself.
double NgramDrafts::draft(std::span<const Wanted> wanted) {
  for (const auto& [request, count] : wanted) {
    const History& history = histories_.at(request->id);
    auto next = static_cast<size_t>(history.match) + 1;
    for (int64_t i = 0; i < count; ++i, ++next)
      request->draft.push_back(next < history.tokens.size()
                                   ? history.tokens[next]
                                   : request->draft[next - history.tokens.size()]);
  }
  return 0;
}

}  // namespace heed::generate

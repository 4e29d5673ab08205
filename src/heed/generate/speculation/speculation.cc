#include "heed/generate/speculation/speculation.h"

#include <numeric>

#include "heed/base/duration.h"

namespace heed::generate {

void Speculation::draft(std::span<DraftRequest> requests, int64_t rows) {
  const Clock::time_point begin = Clock::now();
  drafted_.clear();
  wanted_.clear();
  pass_ = {.rows = rows};
  auto expected = static_cast<double>(rows);
  for (DraftRequest& request : requests) {
    const int kind = source_->kind(request);
    const int64_t tokens =
        lengths_->choose(kind, pass_.rows, expected, request.decoding.max_draft());
    if (tokens > 0) wanted_.push_back({&request, tokens});
    drafted_.push_back({kind, 0});
    pass_.rows += tokens;
    expected += lengths_->expected_tokens(kind, tokens);
  }
  if (!wanted_.empty()) pass_.read_seconds = source_->draft(wanted_);
  for (size_t i = 0; i < requests.size(); ++i) {
    drafted_[i].tokens = std::ssize(requests[i].draft);
    pass_.drafted += drafted_[i].tokens;
  }
  pass_.rows = rows + pass_.drafted;
  start_ = Clock::now();
  pass_.draft_seconds = seconds_between(begin, start_) - pass_.read_seconds;
}

void Speculation::verified(std::span<const int64_t> accepted) {
  pass_.seconds = seconds_between(start_, Clock::now());
  pass_.accepted = std::accumulate(accepted.begin(), accepted.end(), int64_t{0});
  for (size_t i = 0; i < accepted.size(); ++i)
    lengths_->add_verified(drafted_[i].kind, drafted_[i].tokens, accepted[i]);
  lengths_->add(pass_);
}

}  // namespace heed::generate

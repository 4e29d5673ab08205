// The candidates of a beam with required terms: dynamic beam allocation (Post & Vilar 2018).
#include <algorithm>

#include "heed/generate/beam.h"

namespace heed::generate {

/// Of all the best ones, the most probable that continue `num_beams` sequences, with the end tokens
/// among them; each sequence's tokens that come nearer to a missing term; and each sequence's most
/// probable token, without which a sequence that wrote an improbable term would get lost beside
/// those that did not.
std::vector<Beam::Candidate> Beam::term_candidates(std::span<const Candidate> best,
                                                   std::span<const TokenLogits> log_probabilities,
                                                   const std::vector<bool>& ending) const {
  std::vector<Candidate> chosen;
  const auto add = [&](const Candidate& candidate) {
    const auto is_same = [&](const Candidate& other) {
      return other.sequence == candidate.sequence && other.token == candidate.token;
    };
    if (candidate.log_probability > double{kForbiddenLogit} &&
        std::ranges::none_of(chosen, is_same))
      chosen.push_back(candidate);
  };
  int continued = 0;
  for (const Candidate& candidate : best) {
    if (!is_end(candidate.token) && ++continued > options_.num_beams) break;
    add(candidate);
  }
  for (size_t i = 0; i < sequences_.size(); ++i) {
    const auto candidate = [&](int32_t token, float log_probability) {
      return Candidate{sequences_[i].log_probability + static_cast<double>(log_probability),
                       static_cast<int32_t>(i), token};
    };
    for (const int32_t token : next_tokens_of_terms(sequences_[i], ending[i]))
      if (const float* const logit = log_probabilities[i].find(token))
        add(candidate(token, *logit));
    const TokenLogit most = log_probabilities[i].most_probable();
    add(candidate(most.token, most.logit));
  }
  return chosen;
}

/// Where a sequence would end, any missing term may begin.
std::vector<int32_t> Beam::next_tokens_of_terms(const Sequence& sequence, bool ending) const {
  if (ending || !sequence.cross_attention) return sequence.terms->next_tokens();
  const auto row = static_cast<size_t>(sequence.cache_rows.back());
  return sequence.terms->next_tokens((*sequence.cross_attention)[row].values<float>());
}

/// In the order in which they get a place of the beam: the best of each bank, then the second of
/// each, and so on, those of the bank with more of the terms first.
std::vector<Beam::Candidate> Beam::allocated(std::vector<Candidate> of_all) const {
  struct Ranked {
    Candidate candidate;
    int64_t bank, rank = 0;
  };
  std::vector<Ranked> ranked;
  for (const Candidate& candidate : of_all) {
    TermProgress terms = *sequences_[static_cast<size_t>(candidate.sequence)].terms;
    if (!is_end(candidate.token)) terms.append(candidate.token);
    ranked.push_back({candidate, terms.bank()});
  }
  std::ranges::sort(ranked, [](const Ranked& a, const Ranked& b) {
    return a.bank != b.bank ? a.bank > b.bank : a.candidate < b.candidate;
  });
  for (size_t i = 1; i < ranked.size(); ++i)
    ranked[i].rank = ranked[i].bank == ranked[i - 1].bank ? ranked[i - 1].rank + 1 : 0;
  std::ranges::stable_sort(ranked, {}, &Ranked::rank);
  std::vector<Candidate> order;
  for (const Ranked& one : ranked) order.push_back(one.candidate);
  return order;
}

}  // namespace heed::generate

#include "heed/generate/beam.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/generate/sampling.h"
#include "heed/kernels/softmax.h"
#include "heed/kernels/top_k.h"

namespace heed::generate {

bool Beam::Candidate::operator<(const Candidate& other) const {
  if (log_probability != other.log_probability) return log_probability > other.log_probability;
  return sequence != other.sequence ? sequence < other.sequence : token < other.token;
}

namespace {

/// A float below `number`, whatever the rounding.
float below(double number) { return std::nextafter(static_cast<float>(number), kForbiddenLogit); }

/// A sequence that cannot continue keeps logits of -inf.
void renormalize(Tensor& logits) {
  for (int64_t row = 0; row < logits.rows(); ++row) {
    Tensor own = logits.row_slice(row, row + 1);
    if (std::ranges::max(own.values<float>()) > kForbiddenLogit) kernels::log_softmax(own, own);
  }
}

}  // namespace

/// Enough to fill the beam even if every sequence's end tokens are among them.
int64_t Beam::largest_needed() const {
  return options_.num_beams * (1 + std::max<int64_t>(std::ssize(eos_ids_), 1));
}

/// The best candidates, best first.
std::vector<Beam::Candidate> Beam::candidates(
    std::span<const TokenLogits> log_probabilities) const {
  const auto wanted = static_cast<size_t>(largest_needed());
  std::vector<Candidate> best;  // a heap with the worst on top
  for (size_t sequence = 0; sequence < sequences_.size(); ++sequence) {
    const double so_far = sequences_[sequence].log_probability;
    float bound = kForbiddenLogit;
    const auto raise_bound = [&] {
      if (best.size() == wanted) bound = below(best.front().log_probability - so_far);
    };
    raise_bound();
    log_probabilities[sequence].visit_at_least(bound, [&](float log_probability, int32_t token) {
      const Candidate candidate{so_far + static_cast<double>(log_probability),
                                static_cast<int32_t>(sequence), token};
      if (best.size() == wanted) {
        if (!(candidate < best.front())) return;
        std::pop_heap(best.begin(), best.end());
        best.back() = candidate;
      } else {
        best.push_back(candidate);
      }
      std::push_heap(best.begin(), best.end());
      raise_bound();
    });
  }
  std::sort_heap(best.begin(), best.end());
  return best;
}

/// Whether no token whose log-probability is unknown can be among the `best`.
bool Beam::are_best(std::span<const Candidate> best,
                    std::span<const TokenLogits> log_probabilities) const {
  for (size_t sequence = 0; sequence < sequences_.size(); ++sequence) {
    const TokenLogits& known = log_probabilities[sequence];
    if (known.complete()) continue;
    const double bound = sequences_[sequence].log_probability + static_cast<double>(known.bound());
    if (std::ssize(best) < largest_needed() || !(best.back().log_probability > bound)) return false;
  }
  return true;
}

bool Beam::is_end(int32_t token) const {
  return std::find(eos_ids_.begin(), eos_ids_.end(), token) != eos_ids_.end();
}

/// `tokens` counts the end token, if there is one.
void Beam::finish(const Sequence& sequence, double log_probability, size_t tokens) {
  const auto length = static_cast<double>(tokens);
  const double penalty = std::pow((5.0 + length) / 6.0, options_.length_penalty);
  SearchResult result{.hypothesis = {.tokens = sequence.tokens,
                                     .log_probability = log_probability,
                                     .score = log_probability / penalty,
                                     .token_log_probabilities = sequence.token_log_probabilities,
                                     .complete = tokens > sequence.tokens.size()}};
  // Of the rows whose logits chose the tokens, without the one that chose the end token.
  if (sequence.cross_attention)
    for (const int32_t row :
         std::span(sequence.cache_rows).last(tokens).first(sequence.tokens.size()))
      result.cross_attention.push_back((*sequence.cross_attention)[static_cast<size_t>(row)]);
  finished_.push_back(std::move(result));
}

/// Ends the search once num_beams hypotheses are finished or the sequences have max_new_tokens
/// tokens, which finishes them, too.
void Beam::finish_search_if_complete() {
  const bool at_limit = !sequences_.empty() &&
                        static_cast<int64_t>(sequences_.front().tokens.size()) >= max_new_tokens_;
  if (at_limit)
    for (const Sequence& sequence : sequences_)
      finish(sequence, sequence.log_probability, sequence.tokens.size());
  if (at_limit || finished_.size() >= static_cast<size_t>(options_.num_beams)) sequences_.clear();
}

bool Beam::advance(std::span<const TokenLogits> log_probabilities) {
  const bool has_terms = !sequences_.empty() && sequences_.front().terms;
  // Whether a sequence would end without a term that no other one has written in its place.
  const bool any_complete =
      !finished_.empty() || std::ranges::any_of(sequences_, [](const Sequence& sequence) {
        return sequence.terms && sequence.terms->complete();
      });
  std::vector<bool> ending;
  for (size_t i = 0; has_terms && i < sequences_.size(); ++i) {
    ending.push_back(!any_complete && is_end(log_probabilities[i].most_probable().token));
    sequences_[i].terms->restrict(log_probabilities[i], eos_ids_);
  }
  std::vector<Candidate> best = candidates(log_probabilities);
  if (!are_best(best, log_probabilities)) return false;
  if (has_terms) best = allocated(term_candidates(best, log_probabilities, ending));
  const auto width = static_cast<size_t>(options_.num_beams);
  std::vector<Sequence> next;
  next.reserve(width);
  size_t rank = 0;
  for (const Candidate& candidate : best) {
    const Sequence& sequence = sequences_[static_cast<size_t>(candidate.sequence)];
    if (candidate.log_probability == double{kForbiddenLogit}) break;  // and so are all after it
    const bool among_best = rank++ < width;
    if (is_end(candidate.token)) {
      if (among_best) finish(sequence, candidate.log_probability, sequence.tokens.size() + 1);
    } else if (next.size() < width) {
      next.push_back(sequence);
      next.back().tokens.push_back(candidate.token);
      if (next.back().constrained) next.back().constrained->append(candidate.token);
      if (next.back().terms) next.back().terms->append(candidate.token);
      next.back().token_log_probabilities.push_back(candidate.log_probability -
                                                    sequence.log_probability);
      next.back().log_probability = candidate.log_probability;
    }
  }
  require(!next.empty() || !finished_.empty(), "every token is forbidden{}: no logit is above -inf",
          has_terms ? " by required terms and other rules" : "");
  sequences_ = std::move(next);
  finish_search_if_complete();
  return true;
}

void Beam::append(int32_t token, std::optional<double> log_probability) {
  Sequence& sequence = sequences_.front();
  sequence.log_probability += log_probability.value_or(0);
  if (is_end(token)) {
    finish(sequence, sequence.log_probability, sequence.tokens.size() + 1);
  } else {
    sequence.tokens.push_back(token);
    if (log_probability) sequence.token_log_probabilities.push_back(*log_probability);
    if (sequence.constrained) sequence.constrained->append(token);
  }
  finish_search_if_complete();
}

/// A hypothesis whose end was forced is not complete.
std::vector<SearchResult> BeamState::best() const {
  std::vector<SearchResult> best = beam_.best();
  for (auto& [hypothesis, cross_attention] : best)
    if (forces_end(rules_, input_.with_output(hypothesis.tokens))) hypothesis.complete = false;
  return best;
}

LogitsNeeded BeamState::logits_needed() const {
  constexpr int64_t kSpare = 8;  // for tokens that rules forbid
  const int64_t largest = (max_paths_ == 1 ? 1 : beam_.largest_needed()) + kSpare;
  const bool has_terms = !beam_.sequences().empty() && beam_.sequences().front().terms;
  if (rules_.renormalize_logits || has_terms || largest > kernels::kMostTopK) return {};
  return {.largest = largest, .log_sum_exp = max_paths_ > 1 || scores_};
}

/// Whether the rules raise no logit of any sequence's next token.
bool BeamState::only_lowers() const {
  return std::ranges::all_of(beam_.sequences(), [&](const Sequence& sequence) {
    return only_lower_logits(rules_, input_.with_output(sequence.tokens));
  });
}

void BeamState::apply_rules_to(std::span<const TokenLogits> of_sequences) {
  for (size_t i = 0; i < of_sequences.size(); ++i) {
    Sequence& sequence = beam_.sequences()[i];
    apply_rules(rules_, input_.with_output(sequence.tokens), of_sequences[i]);
    if (sequence.constrained) sequence.constrained->restrict(of_sequences[i]);
  }
}

/// log_softmax of logits [sequences, V], with the sums of a device if those were asked for.
void BeamState::log_softmax(Logits& logits, Tensor& y) const {
  const Tensor& all = logits.all();
  if (!logits_needed().log_sum_exp || !logits.has_log_sum_exp())
    return kernels::log_softmax(all, y);
  for (int64_t row = 0; row < all.rows(); ++row)
    for (int64_t i = row * all.cols(); i < (row + 1) * all.cols(); ++i)
      y.data<float>()[i] = logits.log_probability(row, all.data<float>()[i]);
}

std::optional<int32_t> BeamState::greedy_token(const TokenLogits& logits) {
  apply_rules_to({&logits, 1});
  return sample_token({}, logits, 0, 0);
}

/// Chooses the token as sampling with temperature 0 does; its probability is that of the model.
void BeamState::advance_greedily(Logits& logits) {
  if (logits.has_largest() && only_lowers()) {
    const TokenLogits largest = logits.largest(0);
    const std::vector<TokenLogit> before = largest.allowed();
    if (const std::optional<int32_t> token = greedy_token(largest)) {
      const float logit = std::ranges::find(before, *token, &TokenLogit::token)->logit;
      return beam_.append(
          *token, scores_ ? std::optional<double>(logits.log_probability(0, logit)) : std::nullopt);
    }
  }
  Tensor probabilities;
  if (scores_) {
    probabilities = Tensor::empty(logits.all().shape());
    log_softmax(logits, probabilities);
  }
  const int32_t token = *greedy_token(logits.all(0));
  beam_.append(
      token, scores_ ? std::optional<double>(probabilities.values<float>()[logits.column_of(token)])
                     : std::nullopt);
}

/// Rules that scale logits differ from those that scale log-probabilities, so the former come after
/// log_softmax(), as in `transformers`. What they leave then sums to less than 1, unless it is
/// renormalised.
void BeamState::advance(Logits& logits) {
  if (max_paths_ == 1) return advance_greedily(logits);
  std::vector<TokenLogits> of_sequences;
  if (logits.has_largest() && logits_needed().largest > 0 && only_lowers()) {
    for (int64_t row = 0; row < logits.rows(); ++row)
      of_sequences.push_back(logits.largest_log_probabilities(row));
    apply_rules_to(of_sequences);
    if (beam_.advance(of_sequences)) return;
    of_sequences.clear();
  }
  if (rules_.scales() || !rules_.renormalize_logits) log_softmax(logits, logits.all());
  for (int64_t row = 0; row < logits.rows(); ++row) of_sequences.push_back(logits.all(row));
  apply_rules_to(of_sequences);
  if (rules_.renormalize_logits) renormalize(logits.all());
  beam_.advance(of_sequences);
}

std::vector<SearchResult> Beam::best() const {
  std::vector<SearchResult> best = finished_;
  std::stable_sort(best.begin(), best.end(), [](const SearchResult& a, const SearchResult& b) {
    return a.hypothesis.score > b.hypothesis.score;
  });
  if (best.size() > static_cast<size_t>(options_.n_best))
    best.resize(static_cast<size_t>(options_.n_best));
  return best;
}

}  // namespace heed::generate

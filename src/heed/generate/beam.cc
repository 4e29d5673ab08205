#include "heed/generate/beam.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/generate/sampling.h"
#include "heed/kernels/softmax.h"

namespace heed::generate {

bool Beam::Candidate::operator<(const Candidate& other) const {
  if (log_probability != other.log_probability) return log_probability > other.log_probability;
  return sequence != other.sequence ? sequence < other.sequence : token < other.token;
}

namespace {

/// Calls visit(token) for every token whose value is at least `bound`. visit() may raise the bound.
/// Nearly all blocks are below it; the compiler vectorises the loop that skips them.
template <typename Visit>
void visit_at_least(std::span<const float> values, const float& bound, const Visit& visit) {
  constexpr size_t kBlock = 32;
  for (size_t begin = 0; begin < values.size(); begin += kBlock) {
    const size_t end = std::min(begin + kBlock, values.size());
    int32_t any = 0;
    for (size_t token = begin; token < end; ++token) any |= values[token] < bound ? 0 : 1;
    if (any == 0) continue;
    for (size_t token = begin; token < end; ++token)
      if (!(values[token] < bound)) visit(token);
  }
}

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

/// The best candidates, best first: enough to fill the beam even if every sequence's end tokens are
/// among them.
std::vector<Beam::Candidate> Beam::candidates(std::span<const float> log_probabilities) const {
  const size_t wanted =
      static_cast<size_t>(options_.num_beams) * (1 + std::max<size_t>(eos_ids_.size(), 1));
  const size_t classes = log_probabilities.size() / sequences_.size();
  std::vector<Candidate> best;  // a heap with the worst on top
  for (size_t sequence = 0; sequence < sequences_.size(); ++sequence) {
    const double so_far = sequences_[sequence].log_probability;
    const auto row = log_probabilities.subspan(sequence * classes, classes);
    float bound = kForbiddenLogit;
    const auto raise_bound = [&] {
      if (best.size() == wanted) bound = below(best.front().log_probability - so_far);
    };
    raise_bound();
    visit_at_least(row, bound, [&](size_t token) {
      const Candidate candidate{so_far + static_cast<double>(row[token]),
                                static_cast<int32_t>(sequence), static_cast<int32_t>(token)};
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

void Beam::advance(std::span<const float> log_probabilities) {
  const auto width = static_cast<size_t>(options_.num_beams);
  std::vector<Sequence> next;
  next.reserve(width);
  size_t rank = 0;
  for (const Candidate& candidate : candidates(log_probabilities)) {
    const Sequence& sequence = sequences_[static_cast<size_t>(candidate.sequence)];
    if (candidate.log_probability == double{kForbiddenLogit}) break;  // and so are all after it
    const bool among_best = rank++ < width;
    if (is_end(candidate.token)) {
      if (among_best) finish(sequence, candidate.log_probability, sequence.tokens.size() + 1);
    } else if (next.size() < width) {
      next.push_back(sequence);
      next.back().tokens.push_back(candidate.token);
      next.back().log_probability = candidate.log_probability;
    }
  }
  require(!next.empty() || !finished_.empty(), "every token is forbidden: no logit is above -inf");
  sequences_ = std::move(next);
  finish_search_if_complete();
}

void Beam::append(int32_t token, double log_probability) {
  Sequence& sequence = sequences_.front();
  sequence.log_probability += log_probability;
  if (is_end(token))
    finish(sequence, sequence.log_probability, sequence.tokens.size() + 1);
  else
    sequence.tokens.push_back(token);
  finish_search_if_complete();
}

/// A hypothesis whose end was forced is not complete.
std::vector<SearchResult> BeamState::best() const {
  std::vector<SearchResult> best = beam_.best();
  for (auto& [hypothesis, cross_attention] : best)
    if (forces_end(rules_, input_.with_output(hypothesis.tokens))) hypothesis.complete = false;
  return best;
}

void BeamState::apply_rules_to(Tensor& logits) const {
  const auto width = static_cast<size_t>(logits.cols());
  const std::vector<Sequence>& sequences = beam_.sequences();
  for (size_t i = 0; i < sequences.size(); ++i)
    apply_rules(rules_, input_.with_output(sequences[i].tokens),
                {logits.data<float>() + i * width, width});
}

/// Chooses the token as sampling with temperature 0 does; its probability is that of the model.
void BeamState::advance_greedily(Tensor& logits) {
  Tensor probabilities;
  if (scores_) {
    probabilities = Tensor::empty(logits.shape(), DType::f32);
    kernels::log_softmax(logits, probabilities);
  }
  apply_rules_to(logits);
  const int32_t token = sample_token({}, logits.values<float>(), 0, 0);
  beam_.append(token, scores_ ? static_cast<double>(
                                    probabilities.values<float>()[static_cast<size_t>(token)])
                              : 0.0);
}

/// Rules that scale logits differ from those that scale log-probabilities, so the former come after
/// log_softmax(), as in `transformers`. What they leave then sums to less than 1, unless it is
/// renormalised.
void BeamState::advance(Tensor& logits) {
  if (max_paths_ == 1) return advance_greedily(logits);
  const bool scales = rules_.scales();
  if (scales || !rules_.renormalize_logits) kernels::log_softmax(logits, logits);
  apply_rules_to(logits);
  if (rules_.renormalize_logits) renormalize(logits);
  beam_.advance(logits.values<float>());
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

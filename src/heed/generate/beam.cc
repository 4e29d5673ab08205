#include "heed/generate/beam.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "heed/kernels/argmax.h"
#include "heed/kernels/softmax.h"

namespace heed::generate {

bool Beam::Candidate::operator<(const Candidate& other) const {
  if (log_probability != other.log_probability) return log_probability > other.log_probability;
  return path != other.path ? path < other.path : token < other.token;
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
float below(double number) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  return std::nextafter(static_cast<float>(number), kLowest);
}

}  // namespace

/// The best candidates, best first: enough to fill the beam even if every path's end tokens are
/// among them.
std::vector<Beam::Candidate> Beam::candidates(std::span<const float> log_probabilities) const {
  const size_t wanted =
      static_cast<size_t>(options_.num_beams) * (1 + std::max<size_t>(eos_ids_.size(), 1));
  const size_t classes = log_probabilities.size() / paths_.size();
  std::vector<Candidate> best;  // a heap with the worst on top
  for (size_t path = 0; path < paths_.size(); ++path) {
    const double so_far = paths_[path].log_probability;
    const auto row = log_probabilities.subspan(path * classes, classes);
    float bound = -std::numeric_limits<float>::infinity();
    const auto raise_bound = [&] {
      if (best.size() == wanted) bound = below(best.front().log_probability - so_far);
    };
    raise_bound();
    visit_at_least(row, bound, [&](size_t token) {
      const Candidate candidate{so_far + static_cast<double>(row[token]),
                                static_cast<int32_t>(path), static_cast<int32_t>(token)};
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

void Beam::finish(const Path& path, double log_probability) {
  const auto length = static_cast<double>(path.tokens.size() + 1);
  const double penalty = std::pow((5.0 + length) / 6.0, options_.length_penalty);
  finished_.push_back({path.tokens, log_probability, log_probability / penalty});
}

/// Ends the search once num_beams hypotheses are finished or the paths have max_new_tokens tokens.
void Beam::finish_search_if_complete() {
  if (finished_.size() >= static_cast<size_t>(options_.num_beams)) {
    paths_.clear();
  } else if (!paths_.empty() &&
             static_cast<int64_t>(paths_.front().tokens.size()) >= max_new_tokens_) {
    for (const Path& path : paths_) finish(path, path.log_probability);
    paths_.clear();
  }
}

void Beam::advance(std::span<const float> log_probabilities) {
  const auto width = static_cast<size_t>(options_.num_beams);
  std::vector<Path> next;
  next.reserve(width);
  size_t rank = 0;
  for (const Candidate& candidate : candidates(log_probabilities)) {
    const Path& path = paths_[static_cast<size_t>(candidate.path)];
    const bool among_best = rank++ < width;
    if (is_end(candidate.token)) {
      if (among_best) finish(path, candidate.log_probability);
    } else if (next.size() < width) {
      next.push_back(path);
      next.back().tokens.push_back(candidate.token);
      next.back().log_probability = candidate.log_probability;
    }
  }
  paths_ = std::move(next);
  finish_search_if_complete();
}

void Beam::append(int32_t token) {
  Path& path = paths_.front();
  if (is_end(token))
    finish(path, 0.0);
  else
    path.tokens.push_back(token);
  finish_search_if_complete();
}

void BeamDecoding::advance(Tensor& logits) {
  if (!greedy_) kernels::log_softmax(logits, logits);
  for (int64_t row = 0; row < logits.rows(); ++row)
    for (const int32_t token : bad_ids_)
      logits.data<float>()[row * logits.cols() + token] = -std::numeric_limits<float>::infinity();
  if (greedy_) return beam_.append(static_cast<int32_t>(kernels::argmax(logits.values<float>())));
  beam_.advance(logits.values<float>());
}

std::vector<Hypothesis> Beam::best() const {
  std::vector<Hypothesis> best = finished_;
  std::stable_sort(best.begin(), best.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (best.size() > static_cast<size_t>(options_.n_best))
    best.resize(static_cast<size_t>(options_.n_best));
  return best;
}

}  // namespace heed::generate

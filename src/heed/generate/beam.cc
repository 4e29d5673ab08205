#include "heed/generate/beam.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace heed::generate {

bool Beam::Candidate::operator<(const Candidate& other) const {
  if (log_probability != other.log_probability) return log_probability > other.log_probability;
  return path != other.path ? path < other.path : token < other.token;
}

namespace {

/// Calls look(token) for every token whose number is not below `bound`, which look() may raise.
/// Skips blocks of smaller numbers, which are nearly all, at once.
template <typename Look>
void for_each_from(std::span<const float> numbers, const float& bound, const Look& look) {
  constexpr size_t kTogether = 32;
  for (size_t begin = 0; begin < numbers.size(); begin += kTogether) {
    const size_t end = std::min(begin + kTogether, numbers.size());
    int32_t above = 0;
    for (size_t token = begin; token < end; ++token) above |= numbers[token] < bound ? 0 : 1;
    if (above == 0) continue;
    for (size_t token = begin; token < end; ++token)
      if (!(numbers[token] < bound)) look(token);
  }
}

/// A float below `number`.
float below(double number) {
  constexpr float kLowest = -std::numeric_limits<float>::infinity();
  return std::nextafter(static_cast<float>(number), kLowest);
}

}  // namespace

/// The best candidates, as many as keep the beam full even if each path ends with every end token.
std::vector<Beam::Candidate> Beam::candidates(std::span<const float> log_probabilities) const {
  const size_t wanted =
      static_cast<size_t>(options_.num_beams) * (1 + std::max<size_t>(end_ids_.size(), 1));
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
    for_each_from(row, bound, [&](size_t token) {
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

bool Beam::ends(int32_t token) const {
  return std::find(eos_ids_.begin(), eos_ids_.end(), token) != eos_ids_.end();
}

void Beam::end(const Path& path, double log_probability) {
  const auto length = static_cast<double>(path.tokens.size() + 1);
  const double penalty = std::pow((5.0 + length) / 6.0, options_.length_penalty);
  ended_.push_back({path.tokens, log_probability, log_probability / penalty});
}

/// Ends the search once as many hypotheses have ended as the beam is wide, or the paths have their
/// greatest length.
void Beam::end_search_when_due() {
  if (ended_.size() >= static_cast<size_t>(options_.num_beams)) {
    paths_.clear();
  } else if (!paths_.empty() &&
             static_cast<int64_t>(paths_.front().tokens.size()) >= max_new_tokens_) {
    for (const Path& path : paths_) end(path, path.log_probability);
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
    if (ends(candidate.token)) {
      if (among_best) end(path, candidate.log_probability);
    } else if (next.size() < width) {
      next.push_back(path);
      next.back().tokens.push_back(candidate.token);
      next.back().log_probability = candidate.log_probability;
    }
  }
  paths_ = std::move(next);
  end_search_when_due();
}

void Beam::follow(int32_t token) {
  Path& path = paths_.front();
  if (ends(token))
    end(path, 0.0);
  else
    path.tokens.push_back(token);
  end_search_when_due();
}

std::vector<Hypothesis> Beam::best() const {
  std::vector<Hypothesis> best = ended_;
  std::stable_sort(best.begin(), best.end(),
                   [](const Hypothesis& a, const Hypothesis& b) { return a.score > b.score; });
  if (best.size() > static_cast<size_t>(options_.n_best))
    best.resize(static_cast<size_t>(options_.n_best));
  return best;
}

}  // namespace heed::generate

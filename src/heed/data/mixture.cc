#include "heed/data/mixture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "heed/base/error.h"
#include "heed/data/permutation.h"

namespace heed::data {
namespace {

/// A stream of random numbers for each pass through each corpus.
uint64_t stream_of(size_t corpus, int64_t pass) {
  return (uint64_t{corpus} << 40 | static_cast<uint64_t>(pass)) ^ 0x6d697874u;  // "mixt"
}

}  // namespace

Mixture::Mixture(std::vector<int64_t> sizes)
    : sizes_(std::move(sizes)),
      draws_(sizes_),
      size_(std::accumulate(sizes_.begin(), sizes_.end(), int64_t{0})) {}

Mixture::Mixture(std::vector<int64_t> sizes, std::span<const double> shares, uint64_t seed)
    : Mixture(std::move(sizes)) {
  draws_ = apportion(size_, shares);
  seed_ = seed;
}

int64_t Mixture::example(int64_t epoch, int64_t place) const {
  int64_t first = 0;  // of the corpus
  size_t corpus = 0;
  for (; place >= draws_[corpus]; ++corpus) {
    place -= draws_[corpus];
    first += sizes_[corpus];
  }
  const int64_t size = sizes_[corpus], draws = draws_[corpus];
  if (draws == size) return first + place;
  const int64_t drawn = epoch * draws + place;  // since the run began
  return first + Permutation(size, seed_, stream_of(corpus, drawn / size))(drawn % size);
}

std::vector<double> temperature_shares(std::span<const int64_t> sizes, double temperature) {
  std::vector<double> shares;
  for (const int64_t size : sizes)
    shares.push_back(std::pow(static_cast<double>(size), 1 / temperature));
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

std::vector<int64_t> apportion(int64_t total, std::span<const double> shares) {
  require(total >= std::ssize(shares), "{} examples cannot be drawn from {} corpora", total,
          shares.size());
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  std::vector<int64_t> parts;
  std::vector<std::pair<double, size_t>> remainders;  // negative, so that the largest is first
  for (size_t i = 0; i < shares.size(); ++i) {
    const double exact = static_cast<double>(total) * (shares[i] / sum);
    parts.push_back(std::max<int64_t>(static_cast<int64_t>(exact), 1));
    remainders.emplace_back(static_cast<double>(parts.back()) - exact, i);
  }
  std::ranges::sort(remainders);
  int64_t left = total - std::accumulate(parts.begin(), parts.end(), int64_t{0});
  for (size_t i = 0; left > 0; i = (i + 1) % remainders.size(), --left)
    ++parts[remainders[i].second];
  // Shares below one example have taken more than is theirs.
  for (; left < 0; ++left) --*std::ranges::max_element(parts);
  return parts;
}

}  // namespace heed::data

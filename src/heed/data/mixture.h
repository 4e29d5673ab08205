#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace heed::data {

/// Of how many examples each of several corpora is, and how often they are drawn. The examples of
/// a mixture are numbered corpus after corpus.
class Mixture {
 public:
  /// Corpora whose examples each come up once in an epoch.
  explicit Mixture(std::vector<int64_t> sizes);
  /// Corpora that are drawn in proportion to `shares`, which are above 0; see temperature_shares().
  Mixture(std::vector<int64_t> sizes, std::span<const double> shares, uint64_t seed);

  /// The number of all examples, and of those that an epoch draws.
  int64_t size() const { return size_; }
  /// How many of an epoch's examples are of each corpus: at least one, and `size()` together.
  const std::vector<int64_t>& draws() const { return draws_; }
  /// The example at a place of an epoch, 0 <= place < size(). A corpus that is drawn more often
  /// than it has examples is gone through again; one that is drawn less often is continued in the
  /// next epoch. Each time its order is another random one. A pure function of the arguments.
  int64_t example(int64_t epoch, int64_t place) const;

 private:
  std::vector<int64_t> sizes_, draws_;
  int64_t size_ = 0;
  uint64_t seed_ = 0;
};

/// The probabilities p_i ~ size_i^(1/T), of sum 1: 1 keeps the sizes' proportions, and with a
/// higher temperature small corpora are drawn more often (Arivazhagan et al. 2019).
std::vector<double> temperature_shares(std::span<const int64_t> sizes, double temperature);

/// `total` divided in proportion to `shares`, to whole numbers of at least 1 (largest remainders).
/// `total` is at least the number of shares.
std::vector<int64_t> apportion(int64_t total, std::span<const double> shares);

}  // namespace heed::data

#include "heed/train/leaf_gradients.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"
#include "heed/kernels/elementwise.h"

namespace heed::train {
namespace {

/// Elements that one thread copies at a time.
constexpr int64_t kCopyGrain = 1 << 16;

Tensor elements_between(const Tensor& flat, int64_t begin, int64_t end) {
  return flat.reshaped({flat.elements(), 1}).row_slice(begin, end).reshaped({end - begin});
}

void copy(const Tensor& from, Tensor to) {
  const float* const source = from.data<float>();
  float* const target = to.data<float>();
  parallel_for(to.elements(), kCopyGrain, [&](int64_t begin, int64_t end) {
    std::copy(source + begin, source + end, target + begin);
  });
}

std::span<float> floats(Tensor& tensor) {
  return {tensor.data<float>(), static_cast<size_t>(tensor.elements())};
}

}  // namespace

LeafGradients::LeafGradients(nn::Parameters& parameters, distribute::Group& group,
                             const StepGradientsOptions& options)
    : StepGradients(parameters), group_(group), leaves_(options.leaves) {
  std::vector<Parameter*> order = trained_;
  std::ranges::reverse(order);  // about the order in which a backward pass completes them
  buckets_ = gradient_buckets(order, leaves_, options.keep_matrices);
  for (size_t i = 0; i < buckets_.size(); ++i) {
    shards_.push_back(distribute::shards_of(buckets_[i].pieces, group_.size()));
    auto [begin, end] = shard(i, group_.rank());
    for (const TrainedPart& part : parts_between(buckets_[i], begin, end)) {
      parts_.push_back(part);
      bucket_of_part_.push_back(i);
      place_of_part_.push_back(begin);
      begin += part.elements();
    }
  }
}

std::pair<int64_t, int64_t> LeafGradients::shard(size_t bucket, int rank) const {
  const auto at = static_cast<size_t>(distribute::shard_of_rank(rank, group_.size()));
  return {shards_[bucket][at], shards_[bucket][at + 1]};
}

std::vector<TrainedPart> LeafGradients::parts_of(int rank) const {
  std::vector<TrainedPart> parts;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    const auto [begin, end] = shard(i, rank);
    for (const TrainedPart& part : parts_between(buckets_[i], begin, end)) parts.push_back(part);
  }
  return parts;
}

/// Moves the gradients of a pass into buckets.
std::vector<Tensor> LeafGradients::flattened() {
  std::vector<Tensor> flat;
  for (const GradientBucket& bucket : buckets_) {
    flat.push_back(Tensor::empty({bucket.elements}));
    for (const auto& [parameter, begin] : bucket.places) {
      Gradient& gradient = of_pass_.of(*parameter);
      Tensor place = elements_between(flat.back(), begin, begin + parameter->shape.elements());
      if (gradient.tensor().defined())
        copy(gradient.tensor(), place);
      else
        place.fill_zero();
      gradient.set_zero();
    }
  }
  return flat;
}

/// Adds subtrees of equal size, so that the leaves of a rank become a balanced tree.
void LeafGradients::add(Subtree leaf) {
  while (!sums_.empty() && sums_.back().level == leaf.level) {
    for (size_t i = 0; i < buckets_.size(); ++i)
      kernels::add_to(leaf.buckets[i], sums_.back().buckets[i]);
    leaf = std::move(sums_.back());
    ++leaf.level;
    sums_.pop_back();
  }
  sums_.push_back(std::move(leaf));
}

/// Adds what is left of the tree if the leaves of a rank are no power of two, then the ranks.
void LeafGradients::reduce() {
  while (sums_.size() > 1) {
    Subtree last = std::move(sums_.back());
    sums_.pop_back();
    for (size_t i = 0; i < buckets_.size(); ++i)
      kernels::add_to(last.buckets[i], sums_.back().buckets[i]);
  }
  std::vector<std::future<void>> reductions;
  for (size_t i = 0; i < buckets_.size(); ++i)
    reductions.push_back(group_.reduce_scatter(floats(sums_[0].buckets[i]), shards_[i]));
  for (std::future<void>& reduction : reductions) group_.wait(reduction);
}

/// The losses of all leaves, added in their order.
StepLoss LeafGradients::loss_of_all(const std::vector<StepLoss>& own,
                                    const StepTokens& tokens) const {
  constexpr size_t kNumbers = 3;
  const auto per_rank = static_cast<size_t>(ceil_div(leaves_, int64_t{group_.size()}));
  std::vector<double> numbers(kNumbers * per_rank);
  for (size_t i = 0; i < own.size(); ++i) {
    numbers[kNumbers * i] = own[i].loss.smoothed;
    numbers[kNumbers * i + 1] = own[i].loss.negative_log_likelihood;
    numbers[kNumbers * i + 2] = static_cast<double>(own[i].loss.tokens);
  }
  const std::vector<double> all = group_.gather(numbers);
  StepLoss sum{.loss = {}, .tokens = tokens};
  for (size_t i = 0; i < all.size(); i += kNumbers)
    sum.loss += {all[i], all[i + 1], static_cast<int64_t>(all[i + 2])};
  return sum;
}

StepLoss LeafGradients::accumulate(const model::Transformer& model,
                                   const std::vector<data::Batch>& batches,
                                   const StepLossOptions& options) {
  const std::span all(batches);
  const auto per_leaf = static_cast<size_t>(options.batches_per_leaf);
  StepLossOptions of_leaf = options;
  of_leaf.terms = loss_terms(all);
  std::vector<StepLoss> losses;
  for (int64_t leaf = first_leaf(group_.rank()); leaf < first_leaf(group_.rank() + 1); ++leaf) {
    const size_t begin = std::min(static_cast<size_t>(leaf) * per_leaf, all.size());
    of_leaf.first_batch = begin;
    losses.push_back(accumulate_gradients(
        model, of_pass_, all.subspan(begin, std::min(per_leaf, all.size() - begin)), of_leaf));
    add({.level = 0, .buckets = flattened()});
  }
  reduce();
  return loss_of_all(losses, tokens_of(all));
}

double LeafGradients::norm() {
  // A number for each piece, which are the same on any number of ranks. There are as many pieces as
  // leaves, divided alike.
  const auto of_rank = [this](int rank) {
    const int at = distribute::shard_of_rank(rank, group_.size());
    return std::pair{first_leaf(at), first_leaf(at + 1)};
  };
  const auto per_rank = static_cast<size_t>(ceil_div(leaves_, int64_t{group_.size()}));
  const size_t row = per_rank * buckets_.size();
  std::vector<double> own(row);
  const auto [begin, end] = of_rank(group_.rank());
  for (size_t i = 0; i < buckets_.size(); ++i)
    for (int64_t piece = begin; piece < end; ++piece) {
      const auto at = static_cast<size_t>(piece);
      own[i * per_rank + static_cast<size_t>(piece - begin)] =
          kernels::sum_of_squares(elements_between(sums_[0].buckets[i], buckets_[i].pieces[at],
                                                   buckets_[i].pieces[at + 1]));
    }
  const std::vector<double> all = group_.gather(own);
  std::vector<double> ordered(buckets_.size() * static_cast<size_t>(leaves_));
  for (int rank = 0; rank < group_.size(); ++rank) {
    const auto [first, last] = of_rank(rank);
    for (size_t i = 0; i < buckets_.size(); ++i)
      for (int64_t piece = first; piece < last; ++piece)
        ordered[i * static_cast<size_t>(leaves_) + static_cast<size_t>(piece)] =
            all[static_cast<size_t>(rank) * row + i * per_rank +
                static_cast<size_t>(piece - first)];
  }
  double sum = 0;
  for (const double square : ordered) sum += square;
  return std::sqrt(sum);
}

std::vector<Tensor> LeafGradients::take() {
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < parts_.size(); ++i)
    gradients.push_back(elements_between(sums_[0].buckets[bucket_of_part_[i]], place_of_part_[i],
                                         place_of_part_[i] + parts_[i].elements())
                            .reshaped(parts_[i].shape()));
  sums_.clear();
  return gradients;
}

void LeafGradients::drop() { sums_.clear(); }

void LeafGradients::share_weights() {
  if (group_.alone()) return;
  std::vector<Tensor> flat;
  for (const GradientBucket& bucket : buckets_) flat.push_back(Tensor::empty({bucket.elements}));
  for (size_t i = 0; i < parts_.size(); ++i)
    copy(parts_[i].of(parts_[i].parameter->value),
         elements_between(flat[bucket_of_part_[i]], place_of_part_[i],
                          place_of_part_[i] + parts_[i].elements()));
  std::vector<std::future<void>> gathers;
  for (size_t i = 0; i < buckets_.size(); ++i)
    gathers.push_back(
        group_.all_gather(std::as_writable_bytes(floats(flat[i])), shards_[i], sizeof(float)));
  for (size_t i = 0; i < buckets_.size(); ++i) {
    group_.wait(gathers[i]);
    for (const auto& [parameter, begin] : buckets_[i].places)
      copy(elements_between(flat[i], begin, begin + parameter->shape.elements()), parameter->value);
  }
}

int64_t LeafGradients::extra_bytes() const {
  int64_t elements = 0;
  for (const GradientBucket& bucket : buckets_) elements += bucket.elements;
  const auto own = static_cast<uint64_t>(ceil_div(leaves_, int64_t{group_.size()}));
  return elements * int64_t{sizeof(float)} * std::bit_width(own);
}

}  // namespace heed::train

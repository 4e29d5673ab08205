#include "heed/train/distributed/microbatch_gradients.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "heed/base/rounding.h"
#include "heed/kernels/elementwise.h"
#include "heed/train/distributed/sum_rows.h"
#include "heed/train/losses/vector_gradients.h"

namespace heed::train {

MicrobatchGradients::MicrobatchGradients(nn::Parameters& parameters, distribute::Group& group,
                                         const StepGradientsOptions& options)
    : StepGradients(parameters),
      group_(group),
      microbatches_(options.microbatches),
      buckets_(gradient_buckets(trained_, {.pieces = microbatches_,
                                           .keep_matrices = options.keep_matrices,
                                           .only_looked_up = options.only_looked_up,
                                           .bytes = options.bucket_bytes}),
               group.rank(), group.size()),
      weights_(buckets_, group, options.pass_dtype) {
  for (size_t i = 0; i < buckets_.count(); ++i) {
    if (!buckets_[i].only_looked_up) reduced_ = i + 1;
    if (!buckets_[i].is_table()) continue;
    tables_.push_back(i);
    pass_gradients_.keep_sparse(*buckets_[i].places[0].parameter);
  }
}

/// Moves the gradients of a pass into a flat bucket.
Tensor MicrobatchGradients::flattened(const GradientBucket& bucket) {
  Tensor flat = Tensor::empty({bucket.elements});
  for (const GradientBucket::Place& place : bucket.places) {
    Gradient& gradient = pass_gradients_.of(*place.parameter);
    Tensor part = elements_between(flat, place.begin, place.end());
    if (gradient.tensor().defined())
      copy_bytes(bytes_of_elements(gradient.tensor()), bytes_of_elements(part));
    else
      part.fill_zero();
    gradient.set_zero();
  }
  return flat;
}

/// Takes the gradients of the rows of a table that a pass has looked up.
SparseGradient MicrobatchGradients::rows_of(size_t table) {
  return std::exchange(*pass_gradients_.sparse(*buckets_[tables_[table]].places[0].parameter), {});
}

/// Adds subtrees of equal size, so that the microbatches of a rank form a balanced tree.
void MicrobatchGradients::add_microbatch() {
  Subtree microbatch;
  for (size_t i = 0; i < reduced_; ++i) microbatch.buckets.push_back(flattened(buckets_[i]));
  for (size_t i = 0; i < tables_.size(); ++i) microbatch.rows.push_back(rows_of(i));
  while (!subtrees_.empty() && subtrees_.back().level == microbatch.level) {
    for (size_t i = 0; i < reduced_; ++i)
      kernels::add_to(microbatch.buckets[i], subtrees_.back().buckets[i]);
    for (size_t i = 0; i < tables_.size(); ++i) subtrees_.back().rows[i].add(microbatch.rows[i]);
    microbatch = std::move(subtrees_.back());
    ++microbatch.level;
    subtrees_.pop_back();
  }
  subtrees_.push_back(std::move(microbatch));
}

/// Runs the passes of this rank's last microbatch and reduces the buckets.
StepLoss MicrobatchGradients::run_last_microbatch(const model::Transformer& model,
                                                  std::span<const data::Batch> batches,
                                                  StepLossOptions options) {
  incomplete_.clear();
  for (size_t i = 0; i < buckets_.count(); ++i) incomplete_.push_back(buckets_[i].places.size());
  sums_.clear();
  reductions_.clear();
  StepLoss loss;
  if (!batches.empty()) {
    const size_t before = batches.size() - 1;
    loss = accumulate_gradients(model, pass_gradients_, batches.first(before), options, this);
    options.first_batch += before;
    last_pass_ = true;
    unused_.insert(trained_.begin(), trained_.end());
    loss.loss +=
        accumulate_gradients(model, pass_gradients_, batches.subspan(before), options, this).loss;
    last_pass_ = false;
  }
  while (reductions_.size() < reduced_) reduce_next();
  for (std::future<void>& reduction : reductions_) group_.wait(reduction);
  add_rows();
  weights_.receive_all();  // parameters that no pass has read; they arrived before the gradients
  subtrees_.clear();
  return loss;
}

void MicrobatchGradients::before_use(const Parameter& parameter, DType dtype) {
  weights_.await(parameter, dtype);
  if (last_pass_) unused_.erase(&parameter);
}

void MicrobatchGradients::before_lookup(const Parameter& table, DType dtype) {
  weights_.await(table, dtype);
}

void MicrobatchGradients::gradient_complete(const Parameter& parameter) {
  if (!last_pass_) return;
  --incomplete_[buckets_.bucket_of(parameter)];
  // The backward pass has begun, so the pass uses no others. Unused are experts without tokens.
  for (const Parameter* const unused : unused_) --incomplete_[buckets_.bucket_of(*unused)];
  unused_.clear();
  while (reductions_.size() < reduced_ && incomplete_[reductions_.size()] == 0) reduce_next();
}

/// Adds the next bucket of the last microbatch to this rank's tree, then begins its reduction over
/// the ranks.
void MicrobatchGradients::reduce_next() {
  const size_t bucket = reductions_.size();
  Tensor sum = flattened(buckets_[bucket]);
  for (auto subtree = subtrees_.rbegin(); subtree != subtrees_.rend(); ++subtree) {
    kernels::add_to(sum, subtree->buckets[bucket]);
    sum = std::move(subtree->buckets[bucket]);
  }
  sums_.push_back(sum);
  reductions_.push_back(
      group_.reduce_scatter({sum.data<float>(), static_cast<size_t>(sum.elements())},
                            buckets_.bounds(bucket), std::make_shared<Tensor>(sum)));
}

/// Adds the looked-up rows of all microbatches to the sums of this rank's shards.
void MicrobatchGradients::add_rows() {
  for (size_t i = reduced_; i < buckets_.count(); ++i)
    sums_.push_back(Tensor::zeros({buckets_[i].elements}));
  for (size_t i = 0; i < tables_.size(); ++i) {
    const size_t bucket = tables_[i];
    const int64_t cols = buckets_[bucket].places[0].parameter->shape[1];
    SparseGradient own = rows_of(i);
    for (auto subtree = subtrees_.rbegin(); subtree != subtrees_.rend(); ++subtree) {
      subtree->rows[i].add(own);
      own = std::move(subtree->rows[i]);
    }
    const SparseGradient sum = sum_rows(group_, own, buckets_.bounds(bucket), cols);
    const auto [begin, end] = buckets_.shard(bucket, group_.rank());
    for (size_t row = 0; row < sum.rows().size(); ++row) {
      const int64_t place = sum.rows()[row] * cols;  // of the row in the table
      const int64_t first = std::max(begin, place), last = std::min(end, place + cols);
      Tensor total = elements_between(sums_[bucket], first, last);
      const int64_t offset = static_cast<int64_t>(row) * cols - place;
      kernels::add_to(elements_between(sum.values(), first + offset, last + offset), total);
    }
  }
}

/// The losses of all microbatches, added in their order.
StepLoss MicrobatchGradients::loss_of_all(const std::vector<StepLoss>& own,
                                          const StepTokens& tokens) const {
  constexpr size_t kNumbers = 3;
  const auto per_rank = static_cast<size_t>(ceil_div(microbatches_, int64_t{group_.size()}));
  std::vector<double> numbers(kNumbers * per_rank);
  for (size_t i = 0; i < own.size(); ++i) {
    numbers[kNumbers * i] = own[i].loss.smoothed;
    numbers[kNumbers * i + 1] = own[i].loss.negative_log_likelihood;
    numbers[kNumbers * i + 2] = static_cast<double>(own[i].loss.tokens);
  }
  const std::vector<double> all = group_.all_gather(numbers);
  StepLoss sum{.loss = {}, .tokens = tokens};
  for (size_t i = 0; i < all.size(); i += kNumbers)
    sum.loss += {all[i], all[i + 1], static_cast<int64_t>(all[i + 2])};
  return sum;
}

StepLoss MicrobatchGradients::accumulate(const model::Transformer& model,
                                         const std::vector<data::Batch>& batches,
                                         const StepLossOptions& options) {
  const std::span all(batches);
  const auto per_microbatch = static_cast<size_t>(options.gradient_accumulation_steps);
  StepLossOptions of_microbatch = options;
  of_microbatch.terms = loss_terms(all);
  std::vector<StepLoss> losses;
  const auto first_batch = [&](int64_t microbatch) {
    return std::min(static_cast<size_t>(microbatch) * per_microbatch, all.size());
  };
  const int64_t end = first_microbatch(group_.rank() + 1);
  VectorGradients vectors;
  if (compares_batches(all)) {
    const OwnBatches own{first_batch(first_microbatch(group_.rank())), first_batch(end), group_};
    vectors = vector_gradients(model, pass_gradients_, all, own, options, this);
    of_microbatch.vectors = &vectors;
  }
  for (int64_t microbatch = first_microbatch(group_.rank()); microbatch < end; ++microbatch) {
    const size_t begin = first_batch(microbatch);
    const auto own = all.subspan(begin, std::min(per_microbatch, all.size() - begin));
    of_microbatch.first_batch = begin;
    if (microbatch + 1 == end) {
      losses.push_back(run_last_microbatch(model, own, of_microbatch));
    } else {
      losses.push_back(accumulate_gradients(model, pass_gradients_, own, of_microbatch, this));
      add_microbatch();
    }
  }
  return loss_of_all(losses, tokens_of(all));
}

double MicrobatchGradients::norm() {
  // The sum of one number for each piece is the same on any number of ranks. A bucket has as many
  // pieces as there are microbatches, and they are divided among the shards alike.
  const auto per_rank = static_cast<size_t>(ceil_div(microbatches_, int64_t{group_.size()}));
  const int own_shard = distribute::shard_of_rank(group_.rank(), group_.size());
  const int64_t first = first_microbatch(own_shard), end = first_microbatch(own_shard + 1);
  std::vector<double> own(per_rank * buckets_.count());
  for (size_t i = 0; i < buckets_.count(); ++i)
    for (int64_t piece = first; piece < end; ++piece) {
      const auto at = static_cast<size_t>(piece);
      own[i * per_rank + static_cast<size_t>(piece - first)] = kernels::sum_of_squares(
          elements_between(sums_[i], buckets_[i].pieces[at], buckets_[i].pieces[at + 1]));
    }
  const std::vector<double> all = group_.all_gather(own);
  double sum = 0;
  for (size_t i = 0; i < buckets_.count(); ++i)
    for (int shard = 0; shard < group_.size(); ++shard) {
      // shard_of_rank() is its own inverse.
      const auto rank = static_cast<size_t>(distribute::shard_of_rank(shard, group_.size()));
      const auto pieces =
          static_cast<size_t>(first_microbatch(shard + 1) - first_microbatch(shard));
      for (size_t piece = 0; piece < pieces; ++piece)
        sum += all[rank * own.size() + i * per_rank + piece];
    }
  return std::sqrt(sum);
}

std::vector<Tensor> MicrobatchGradients::take() {
  std::vector<Tensor> gradients;
  for (size_t i = 0; i < parts().size(); ++i) {
    const auto [bucket, begin] = buckets_.places()[i];
    gradients.push_back(elements_between(sums_[bucket], begin, begin + parts()[i].elements())
                            .reshaped(parts()[i].shape()));
  }
  sums_.clear();
  return gradients;
}

void MicrobatchGradients::discard() { sums_.clear(); }

int64_t MicrobatchGradients::extra_bytes() const {
  int64_t elements = 0;
  for (size_t i = 0; i < buckets_.count(); ++i) elements += buckets_[i].elements;
  const auto own = static_cast<uint64_t>(ceil_div(microbatches_, int64_t{group_.size()}));
  return elements * int64_t{sizeof(float)} * std::bit_width(own) + weights_.bytes();
}

}  // namespace heed::train

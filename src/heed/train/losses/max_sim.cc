#include "heed/train/losses/max_sim.h"

#include <utility>

#include "heed/base/parallel.h"
#include "heed/kernels/matmul.h"

namespace heed::train {

MaxSim::MaxSim(const data::TextGroups& groups, const Tensor& vectors, std::vector<int32_t> queries,
               std::vector<int32_t> texts)
    : groups_(groups),
      queries_(std::move(queries)),
      texts_(std::move(texts)),
      scores_(Tensor::empty({std::ssize(queries_), std::ssize(texts_)})),
      nearest_(queries_.size()) {
  std::vector<int32_t> rows;
  for (const int32_t text : texts_) {
    const auto [begin, end] = rows_of_text(text);
    for (int32_t row = begin; row < end; ++row) rows.push_back(row);
    offsets_.push_back(static_cast<int32_t>(rows.size()));
  }
  const Tensor candidates = rows_of(vectors, rows);
  for (size_t query = 0; query < queries_.size(); ++query) compare(query, vectors, candidates);
}

void MaxSim::compare(size_t query, const Tensor& vectors, const Tensor& candidates) {
  const auto [begin, end] = rows_of_text(queries_[query]);
  Tensor products = Tensor::empty({int64_t{end - begin}, candidates.rows()});
  kernels::matmul({vectors.row_slice(begin, end)}, {candidates, true}, {}, products);
  const auto count = static_cast<size_t>(end - begin);
  std::vector<int32_t>& nearest = nearest_[query];
  nearest.resize(count * texts_.size());
  parallel_for(std::ssize(texts_), 1, [&](int64_t first_text, int64_t last_text) {
    for (auto text = static_cast<size_t>(first_text); text < static_cast<size_t>(last_text);
         ++text) {
      double sum = 0;
      for (size_t token = 0; token < count; ++token) {
        const float* const row =
            products.data<float>() + token * static_cast<size_t>(products.cols());
        int32_t best = offsets_[text];
        for (int32_t i = best + 1; i < offsets_[text + 1]; ++i)
          if (row[i] > row[best]) best = i;
        sum += static_cast<double>(row[best]);
        nearest[token * texts_.size() + text] =
            rows_of_text(texts_[text]).begin + best - offsets_[text];
      }
      scores_.data<float>()[query * texts_.size() + text] = static_cast<float>(sum);
    }
  });
}

void MaxSim::add_gradients(const Tensor& slopes, ComparedVectors& vectors) const {
  const auto for_each_pair = [&](size_t query, size_t text, const auto& visit) {
    const double slope = static_cast<double>(slopes.data<float>()[query * texts_.size() + text]);
    if (slope == 0) return;
    const auto [begin, end] = rows_of_text(queries_[query]);
    for (int32_t row = begin; row < end; ++row) {
      const size_t token = static_cast<size_t>(row - begin);
      visit(slope, static_cast<size_t>(row),
            static_cast<size_t>(nearest_[query][token * texts_.size() + text]));
    }
  };
  parallel_for(std::ssize(queries_), 1, [&](int64_t first, int64_t last) {
    for (auto query = static_cast<size_t>(first); query < static_cast<size_t>(last); ++query)
      for (size_t text = 0; text < texts_.size(); ++text)
        for_each_pair(query, text, [&](double slope, size_t own, size_t other) {
          vectors.add(own, slope, vectors.vector(other));
        });
  });
  parallel_for(std::ssize(texts_), 1, [&](int64_t first, int64_t last) {
    for (auto text = static_cast<size_t>(first); text < static_cast<size_t>(last); ++text)
      for (size_t query = 0; query < queries_.size(); ++query)
        for_each_pair(query, text, [&](double slope, size_t own, size_t other) {
          vectors.add(other, slope, vectors.vector(own));
        });
  });
}

}  // namespace heed::train

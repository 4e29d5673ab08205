#include "heed/kernels/cpu/attention/bias_gradient.h"

#include "heed/base/parallel.h"
#include "heed/base/rounding.h"

namespace heed::kernels::cpu {

BiasGradient::BiasGradient(const std::vector<AttentionGroup>& groups, const AttentionShape& shape)
    : groups_(groups), shape_(shape) {
  if (!shape.relative_bias) return;
  first_block_.reserve(groups.size() + 1);
  first_block_.push_back(0);
  for (const AttentionGroup& group : groups)
    first_block_.push_back(first_block_.back() + ceil_div(group.keys, kKeyBlock));
  sums_ = Tensor::zeros({first_block_.back(), shape.heads_per_group, shape.bias_width()});
}

float* BiasGradient::of_group(size_t group) {
  if (!sums_.defined()) return nullptr;
  return sums_.data<float>() + first_block_[group] * shape_.heads_per_group * shape_.bias_width();
}

void BiasGradient::write(Tensor& d_bias) const {
  const int64_t heads = shape_.heads_per_group, width = shape_.bias_width();
  parallel_for(shape_.n_heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t h = begin; h < end; ++h) {
      std::vector<double> total(static_cast<size_t>(width), 0.0);
      for (size_t i = 0; i < groups_.size(); ++i) {
        if (groups_[i].kv_head != h / heads) continue;
        for (int64_t block = first_block_[i]; block < first_block_[i + 1]; ++block) {
          const float* sums = sums_.data<float>() + (block * heads + h % heads) * width;
          for (size_t c = 0; c < total.size(); ++c) total[c] += sums[c];
        }
      }
      float* to = d_bias.data<float>() + h * width;
      for (size_t c = 0; c < total.size(); ++c) to[c] = static_cast<float>(total[c]);
    }
  });
}

}  // namespace heed::kernels::cpu

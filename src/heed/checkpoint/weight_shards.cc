#include "heed/checkpoint/weight_shards.h"

#include <cstring>

#include "heed/base/error.h"

namespace heed::checkpoint {
namespace {

enum class Sharding {
  none,
  rows,        // of heads or hidden units
  vocabulary,  // rows of tokens
  columns,     // that read heads or hidden units
  once         // the first part has it, the others have zeros
};

Sharding sharding_of(const Parameter& parameter) {
  switch (parameter.role) {
    case WeightRole::query:
    case WeightRole::key_value:
    case WeightRole::ff_up:
    case WeightRole::attention_sinks:
      return Sharding::rows;
    case WeightRole::token_embedding:
    case WeightRole::head:
      return Sharding::vocabulary;
    case WeightRole::output:
    case WeightRole::ff_down:
      return parameter.shape.rank() == 2 ? Sharding::columns : Sharding::once;
    default:
      return Sharding::none;
  }
}

Tensor columns(const std::string& name, const Tensor& whole, int64_t begin, int64_t end) {
  const int64_t block = block_elements(whole.dtype());
  require(begin % block == 0 && end % block == 0,
          "{} cannot be divided among ranks at column {}: its blocks have {} elements", name,
          begin % block ? begin : end, block);
  Tensor part = Tensor::empty({whole.rows(), end - begin}, whole.dtype());
  const int64_t skipped = bytes_of(whole.dtype(), begin);
  for (int64_t row = 0; row < whole.rows(); ++row)
    std::memcpy(part.raw() + row * part.row_bytes(),
                whole.raw() + row * whole.row_bytes() + skipped,
                static_cast<size_t>(part.row_bytes()));
  return part;
}

/// Rows of a matrix, or elements of a vector; a view.
Tensor rows(const Tensor& whole, int64_t begin, int64_t end) {
  if (whole.shape().rank() != 1) return whole.row_slice(begin, end);
  return whole.reshaped({whole.elements(), 1}).row_slice(begin, end).reshaped({end - begin});
}

}  // namespace

Shape whole_shape(const Parameter& parameter, const model::ModelConfig& config,
                  const nn::TensorParallel& parts) {
  const Shape& own = parameter.shape;
  const auto with_rows = [&](int64_t count) {
    return own.rank() == 1 ? Shape{count} : Shape{count, own[-1]};
  };
  switch (sharding_of(parameter)) {
    case Sharding::rows:
      return with_rows(own[0] * parts.world_size());
    case Sharding::vocabulary:
      return with_rows(config.vocab_size);
    case Sharding::columns:
      return {own[0], own[1] * parts.world_size()};
    default:
      return own;
  }
}

Tensor shard_of(const Parameter& parameter, const Tensor& whole, const model::ModelConfig& config,
                const nn::TensorParallel& parts) {
  switch (sharding_of(parameter)) {
    case Sharding::rows:
      return rows(whole, parts.begin(whole.shape()[0]), parts.end(whole.shape()[0]));
    case Sharding::vocabulary:
      return rows(whole, parts.begin(config.vocab_size), parts.end(config.vocab_size));
    case Sharding::columns:
      return columns(parameter.name, whole, parts.begin(whole.cols()), parts.end(whole.cols()));
    case Sharding::once:
      return parts.rank() == 0 ? whole : Tensor::zeros(whole.shape());
    default:
      return whole;
  }
}

}  // namespace heed::checkpoint

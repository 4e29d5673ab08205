#include "heed/ops/relative_bias.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>
#include <vector>

#include "heed/base/error.h"
#include "heed/kernels/relative_bias.h"

namespace heed::ops {
namespace {

/// Buckets of one direction, and how many of them hold one distance each.
struct OneDirection {
  explicit OneDirection(const RelativeBuckets& all)
      : buckets(all.bidirectional ? all.buckets / 2 : all.buckets), exact(buckets / 2) {}
  int64_t buckets, exact;
};

void check(const Parameter& table, const RelativeBuckets& buckets, int64_t reach) {
  const OneDirection one(buckets);
  require(one.exact > 0 && buckets.max_distance > one.exact,
          "{}: {} buckets cannot cover distances up to {}", table.name, buckets.buckets,
          buckets.max_distance);
  require(reach > 0, "{}: the reach is {}, expected 1 or more", table.name, reach);
  require(table.value.defined() && table.value.shape().rank() == 2 &&
              table.value.rows() == buckets.buckets,
          "{} is {}, expected a row for each of {} buckets", table.name, table.value.shape().text(),
          buckets.buckets);
}

}  // namespace

int64_t RelativeBuckets::bucket(int64_t distance) const {
  const OneDirection one(*this);
  const int64_t first = bidirectional && distance > 0 ? one.buckets : 0;
  const int64_t far = bidirectional ? std::abs(distance) : std::max<int64_t>(-distance, 0);
  if (far < one.exact) return first + far;
  // In f32 and in this order, because a boundary between buckets may fall on a whole distance.
  const float exact = static_cast<float>(one.exact);
  const double octaves =
      std::log(static_cast<double>(max_distance) / static_cast<double>(one.exact));
  const float part = std::log(static_cast<float>(far) / exact) / static_cast<float>(octaves) *
                     static_cast<float>(one.buckets - one.exact);
  return first + std::min(one.exact + static_cast<int64_t>(part), one.buckets - 1);
}

Tensor relative_bias(Context& context, const Parameter& table, const RelativeBuckets& buckets,
                     int64_t reach) {
  check(table, buckets, reach);
  if (context.tape) context.tape->use(table);
  std::vector<int32_t> rows(static_cast<size_t>(2 * reach - 1));  // of the table
  for (int64_t c = 0; c < std::ssize(rows); ++c)
    rows[static_cast<size_t>(c)] = static_cast<int32_t>(buckets.bucket(c - (reach - 1)));
  Tensor y = Tensor::empty({table.value.cols(), std::ssize(rows)});
  kernels::relative_bias_forward(table.read(DType::f32), rows, y);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, &table, rows = std::move(rows)](const Tensor& dy) {
    if (table.trainable)
      kernels::relative_bias_backward(dy, rows, tape.gradient(table).materialized());
  });
  return y;
}

}  // namespace heed::ops

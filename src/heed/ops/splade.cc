#include "heed/ops/splade.h"

#include <cmath>
#include <limits>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/kernels/column_sums.h"
#include "heed/kernels/matmul.h"
#include "heed/ops/elementwise.h"
#include "heed/ops/int8_rounding.h"
#include "heed/ops/logit_rows.h"
#include "heed/ops/multiply.h"

namespace heed::ops {
namespace {

constexpr int64_t kTokensPerTask = 1024;

/// The rows of x that are texts.
class TextRows {
 public:
  explicit TextRows(const std::vector<int32_t>& offsets) : offsets_(offsets) {}
  size_t texts() const { return offsets_.size() - 1; }
  /// Calls visit(text, first, last) for each text that has some of the rows [begin, end).
  template <typename Visit>
  void for_each(int64_t begin, int64_t end, const Visit& visit) const {
    for (size_t text = 0; text < texts(); ++text) {
      const int64_t first = std::max<int64_t>(begin, offsets_[text]),
                    last = std::min<int64_t>(end, offsets_[text + 1]);
      if (first < last) visit(text, first, last);
    }
  }

 private:
  std::vector<int32_t> offsets_;
};

void check_texts(const std::vector<int32_t>& offsets, int64_t rows) {
  require(offsets.size() > 1 && offsets.front() == 0 && offsets.back() == rows,
          "splade: the texts have other rows than the {} of x", rows);
  for (size_t b = 0; b + 1 < offsets.size(); ++b)
    require(offsets[b] < offsets[b + 1], "splade: text {} has no rows", b);
}

/// The largest logit of each token in each text so far, and the row that has it.
struct Largest {
  explicit Largest(size_t texts, int64_t classes)
      : classes(static_cast<size_t>(classes)),
        rows(texts * static_cast<size_t>(classes)),
        logits(rows.size(), -std::numeric_limits<float>::infinity()) {}

  /// Reads the logits [M, V] of the rows from `begin`.
  void read(const Tensor& x, int64_t begin, const TextRows& texts) {
    parallel_for(x.cols(), kTokensPerTask, [&](int64_t first_token, int64_t last_token) {
      texts.for_each(begin, begin + x.rows(), [&](size_t text, int64_t first, int64_t last) {
        for (int64_t row = first; row < last; ++row) {
          const float* const own = x.data<float>() + (row - begin) * x.cols();
          for (int64_t token = first_token; token < last_token; ++token) {
            const size_t place = text * classes + static_cast<size_t>(token);
            // What is no number stays, so that it is seen.
            if (own[token] <= logits[place] || std::isnan(logits[place])) continue;
            logits[place] = own[token];
            rows[place] = static_cast<int32_t>(row);
          }
        }
      });
    });
  }

  /// The gradient by the logits of the rows [begin, end), from that of y: [M, V] f32.
  Tensor gradient(const Tensor& dy, int64_t begin, int64_t end, const TextRows& texts) const {
    Tensor dx = Tensor::zeros({end - begin, dy.cols()});
    parallel_for(dy.cols(), kTokensPerTask, [&](int64_t first_token, int64_t last_token) {
      texts.for_each(begin, end, [&](size_t text, int64_t, int64_t) {
        for (int64_t token = first_token; token < last_token; ++token) {
          const size_t place = text * classes + static_cast<size_t>(token);
          if (rows[place] < begin || rows[place] >= end || logits[place] <= 0) continue;
          dx.data<float>()[(rows[place] - begin) * dy.cols() + token] =
              dy.data<float>()[place] / (1 + logits[place]);
        }
      });
    });
    return dx;
  }

  size_t classes;
  std::vector<int32_t> rows;  // [B, V]
  std::vector<float> logits;  // [B, V]
};

}  // namespace

Tensor splade(Context& context, const Tensor& x, const Parameter& weight, const Parameter& bias,
              const std::vector<int32_t>& offsets) {
  const int64_t classes = weight.shape[0], rows = x.rows(), step = rows_at_a_time(rows, classes);
  check_texts(offsets, rows);
  Tensor trained, in = x;
  if (context.tape) {
    context.tape->use(weight, x.dtype());
    if (bias.present()) context.tape->use(bias);
    check_linear(x, weight, bias);
    trained = context.rounds_to_int8 ? rounded_to_int8(weight, x.dtype()) : weight.read(x.dtype());
    if (context.rounds_to_int8) in = rounded_to_int8(x);
  }
  const TextRows texts(offsets);
  Largest largest(texts.texts(), classes);
  for (int64_t begin = 0; begin < rows; begin += step) {
    const Tensor chunk = in.row_slice(begin, std::min(begin + step, rows));
    Tensor logits = Tensor::empty({chunk.rows(), classes});
    if (context.tape)
      kernels::matmul({chunk}, {trained, true}, {.bias = bias.value}, logits);
    else
      multiply(chunk, weight, bias, logits);
    largest.read(logits.to(nullptr), begin, texts);
  }
  Tensor y = Tensor::empty({std::ssize(offsets) - 1, classes});
  for (size_t i = 0; i < largest.logits.size(); ++i)
    y.data<float>()[i] = largest.logits[i] <= 0 ? 0.0f : std::log1p(largest.logits[i]);
  if (!context.tape) return y;

  Tape& tape = *context.tape;
  tape.record(y, [&tape, &weight, &bias, saved = tape.save(in), trained, texts, step,
                  largest = std::move(largest), from = TensorKey(x)](const Tensor& dy) {
    auto [dx, accumulate] = tape.slot(from);
    const Tensor input = saved.tensor();
    Context plain;
    for (int64_t begin = 0; begin < input.rows(); begin += step) {
      const int64_t end = std::min(begin + step, input.rows());
      const Tensor d_logits = convert(plain, largest.gradient(dy, begin, end, texts), from.dtype);
      Tensor d_chunk = dx.row_slice(begin, end);
      kernels::matmul({d_logits}, {trained}, {.accumulate = accumulate}, d_chunk);
      if (weight.trainable) {
        auto [d_weight, add] = tape.gradient(weight).slot();
        kernels::matmul({d_logits, true}, {input.row_slice(begin, end)}, {.accumulate = add},
                        d_weight);
      }
      if (bias.present() && bias.trainable)
        kernels::column_sums(d_logits, tape.gradient(bias).materialized());
    }
  });
  return y;
}

}  // namespace heed::ops

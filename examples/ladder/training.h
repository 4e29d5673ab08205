#pragma once

// Training for all models: Adam on the cross entropy of the next word, for the same time.

#include <algorithm>
#include <cmath>
#include <ctime>

#include "heed/base/random.h"
#include "heed/nn/positions.h"
#include "heed/ops/cross_entropy.h"
#include "heed/train/optimizers/optimizer.h"
#include "heed/train/optimizers/schedule.h"
#include "heed/train/step_gradients.h"
#include "ladder/models.h"

namespace ladder {

/// Windows of the text that begin at `starts`; the targets are shifted by one word.
inline Windows windows_at(std::span<const int32_t> text, const std::vector<size_t>& starts) {
  Windows in;
  std::vector<int32_t> offsets{0};
  for (const size_t start : starts) {
    const size_t length = std::min<size_t>(kWindow, text.size() - 1 - start);
    const auto words = text.subspan(start, length), next = text.subspan(start + 1, length);
    in.words.insert(in.words.end(), words.begin(), words.end());
    in.targets.insert(in.targets.end(), next.begin(), next.end());
    offsets.push_back(static_cast<int32_t>(in.words.size()));
  }
  in.positions = heed::nn::positions_within(offsets);
  in.spans = std::make_shared<const heed::kernels::AttentionMetadata>(
      heed::kernels::AttentionMetadata::self(offsets));
  return in;
}

inline heed::ops::Loss loss(Model& model, heed::Tape* tape, const Windows& in) {
  Context context{.tape = tape};
  const Tensor states = model.states(context, in);
  const float scale = 1.0f / static_cast<float>(in.targets.size());
  return heed::ops::cross_entropy(context, states, model.out, model.out_bias, in.targets,
                                  {.gradient_scale = scale});
}

/// Trains for `seconds` of processor time, so that the result does not depend on other load.
inline void train(Model& model, std::span<const int32_t> text, double seconds) {
  const std::clock_t start = std::clock();
  // A schedule step is a thousandth of the time, so that the learning rate reaches zero at the end.
  const heed::train::Schedule schedule{
      .kind = heed::train::ScheduleKind::cosine, .peak = 5e-3, .warmup = 50, .last_step = 1000};
  const auto gradients = heed::train::make_step_gradients(model.parameters);
  heed::train::Optimizer optimizer(gradients->parts(), {});
  const heed::CounterRandom random(3);
  for (uint64_t draws = 0;;) {
    const double elapsed = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC / seconds;
    if (elapsed >= 1) return;
    std::vector<size_t> starts;
    for (int i = 0; i < 16; ++i) starts.push_back(random.below(draws++, text.size() - kWindow));
    heed::Tape tape(gradients->pass_gradients());
    loss(model, &tape, windows_at(text, starts));
    tape.backward();
    // Gradient clipping to norm 1.
    const double clip = 1.0 / std::max(1.0, gradients->norm());
    optimizer.step(gradients->take(), schedule.at(1 + static_cast<int64_t>(999 * elapsed)), clip);
  }
}

/// The perplexity of all words but the first, each predicted from the words before it in its
/// window.
inline double perplexity(Model& model, std::span<const int32_t> text) {
  heed::ops::Loss sum;
  for (size_t start = 0; start + 1 < text.size(); start += kWindow)
    sum += loss(model, nullptr, windows_at(text, {start}));
  return sum.perplexity();
}

}  // namespace ladder

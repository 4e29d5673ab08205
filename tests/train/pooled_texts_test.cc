#include "heed/train/losses/pooled_texts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "heed/tasks/hidden_states.h"
#include "heed/tasks/modules/pooling.h"
#include "tests/train/embed_run.h"

namespace heed::train {
namespace {

using testing::embed_config;

TEST(PooledTexts, BeginAfterThePrompt) {
  const TemporaryDirectory folder;
  const auto task = testing::task_of(embed_config(folder));
  const model::Transformer model(task->model(), 3);
  data::Batch batch = task->train().batch(std::vector<int64_t>{0}, 0);
  batch.groups.unpooled = {1, 99, 0};  // the second text is a prompt alone
  Context context;
  const Tensor states =
      tasks::hidden_states(model, context, {batch.source, batch.source_offsets, {}, {}});
  batch.groups.options.pooling = {Pooling::cls};
  const Tensor found = pooled_texts(model, context, batch);
  for (int64_t text = 0; text < 3; ++text) {
    const int64_t row = batch.source_offsets[static_cast<size_t>(text)] + (text == 0 ? 1 : 0);
    EXPECT_TRUE(std::ranges::equal(found.row_slice(text, text + 1).values<float>(),
                                   states.row_slice(row, row + 1).values<float>()));
  }
}

TEST(PooledTexts, ArePooledAsThoseOfAnEmbedder) {
  const TemporaryDirectory folder;
  const auto task = testing::task_of(embed_config(folder));
  const model::Transformer model(task->model(), 3);
  data::Batch batch = task->train().batch(std::vector<int64_t>{0, 1}, 0);
  batch.groups.unpooled = {1, 0, 2, 0, 1, 0};
  batch.groups.options.pooling = {Pooling::weightedmean,         Pooling::mean, Pooling::max,
                                  Pooling::mean_sqrt_len_tokens, Pooling::last, Pooling::cls};
  Context context;
  const Tensor states =
      tasks::hidden_states(model, context, {batch.source, batch.source_offsets, {}, {}});
  const Tensor found = pooled_texts(model, context, batch);
  ASSERT_EQ(found.shape(), (Shape{6, 6 * states.cols()}));
  for (size_t text = 0; text < 6; ++text) {
    const int32_t begin = batch.source_offsets[text] + batch.groups.unpooled[text];
    const std::vector<float> expected = tasks::pooled(
        batch.groups.options.pooling, {.values = states.data<float>() + begin * states.cols(),
                                       .rows = batch.source_offsets[text + 1] - begin,
                                       .width = states.cols(),
                                       .first_position = batch.groups.unpooled[text]});
    const float* const row = found.data<float>() + static_cast<int64_t>(text) * found.cols();
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(row[i], expected[i], 1e-6);
  }
}

}  // namespace
}  // namespace heed::train

#include "heed/serve/served_model.h"

#include <gtest/gtest.h>

#include <future>

#include "heed/base/interrupt.h"
#include "tests/engine/small_models.h"
#include "tests/serve/run_on.h"

namespace heed::serve {
namespace {

TEST(ServedModel, DropsItsWorkWhichRefersToIt) {
  ComputeLoop loop;
  const auto model = std::make_shared<ServedModel>(Model::load(engine::models().decoder()),
                                                   BatchingOptions{}, loop);
  const auto call =
      std::make_shared<Call>(std::make_shared<HttpTransaction>(HttpRequest{}, 0, [] {}), "");
  long before = 0, after = 0;
  run_on(loop, [&] {  // all that is posted here comes before the first turn
    model->generate(call, {.prompt = std::vector<int32_t>{1}}, 1,
                    [model](const Delta&) { return true; });
    model->embed(call, {{1, 2, 3}}, [model](size_t, std::vector<float>) {});
    model->run(call, 1, [model] {});
    loop.post([&] {
      before = model.use_count();
      model->drop();
      after = model.use_count();
    });
  });
  run_on(loop, [] {});
  EXPECT_EQ(before, 5);
  EXPECT_EQ(after, 2);  // this function's and the loop's
}

/// Requests wait while one runs: the numbers of those that follow, in their order.
std::vector<int> order_of(const std::vector<int>& priorities) {
  ComputeLoop loop;
  const auto model = std::make_shared<ServedModel>(Model::load(engine::models().decoder()),
                                                   BatchingOptions{.max_active_requests = 1}, loop);
  std::vector<int> order;
  std::promise<void> all;
  run_on(loop, [&] {  // all that is posted here comes before the first turn
    for (size_t i = 0; i <= priorities.size(); ++i) {
      const auto call =
          std::make_shared<Call>(std::make_shared<HttpTransaction>(HttpRequest{}, 0, [] {}), "");
      call->priority = i == 0 ? 0 : priorities[i - 1];
      Request request{.prompt = std::vector<int32_t>{1}, .options = {.max_new_tokens = 3}};
      model->generate(call, std::move(request), 1, [&, i](const Delta& delta) {
        if (!delta.generation) return true;
        if (i > 0) order.push_back(static_cast<int>(i));
        if (order.size() == priorities.size()) all.set_value();
        return true;
      });
    }
  });
  all.get_future().wait();
  run_on(loop, [] {});
  return order;
}

TEST(ServedModel, TakesRequestsOfAHigherPriorityFirst) {
  EXPECT_EQ(order_of({0, 0, 0}), (std::vector{1, 2, 3}));
  EXPECT_EQ(order_of({0, -1, 5, 0, 5}), (std::vector{3, 5, 1, 4, 2}));
}

TEST(ServedModel, EndsASingleCallThatNobodyWantsAnyMore) {
  ComputeLoop loop;
  const auto model = std::make_shared<ServedModel>(Model::load(engine::models().encoder()),
                                                   BatchingOptions{}, loop);
  const auto call =
      std::make_shared<Call>(std::make_shared<HttpTransaction>(HttpRequest{}, 0, [] {}), "");
  std::promise<void> begun;
  model->run(call, 1, [&] {
    begun.set_value();
    while (true) check_interrupted();
  });
  begun.get_future().wait();
  call->cancel();
  run_on(loop, [] {});
  EXPECT_FALSE(call->transaction().responded());
}

}  // namespace
}  // namespace heed::serve

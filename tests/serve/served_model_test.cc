#include "heed/serve/served_model.h"

#include <gtest/gtest.h>

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

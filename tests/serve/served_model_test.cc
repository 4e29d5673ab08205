#include "heed/serve/served_model.h"

#include <gtest/gtest.h>

#include "tests/engine/small_models.h"

namespace heed::serve {
namespace {

TEST(ServedModel, IsFreedThoughItsWorkRefersToIt) {
  std::weak_ptr<ServedModel> freed;
  {
    ComputeLoop loop;
    const auto model = std::make_shared<ServedModel>(
        Model::load(engine::SmallModels::all().decoder()), BatchingOptions{}, loop);
    freed = model;
    const auto call =
        std::make_shared<Call>(std::make_shared<Exchange>(HttpRequest{}, 0, [] {}), "");
    loop.run([&] {  // all of this comes before its first turn
      model->generate(call, {.prompt = std::vector<int32_t>{1}}, 1,
                      [model](const Delta&) { return true; });
      model->embed(call, {"the sea"}, {3}, [model](size_t, std::vector<float>) {});
      model->run(call, 1, [model] {});
      loop.post([&] { model->drop(); });
    });
    loop.run([] {});
  }
  EXPECT_TRUE(freed.expired());
}

}  // namespace
}  // namespace heed::serve

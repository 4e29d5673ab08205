// A model that is named OWNER/NAME is the one that the hub has under that name.
#include <gtest/gtest.h>

#include "heed/model.h"
#include "tests/engine/small_models.h"
#include "tests/hub/hub_server.h"

namespace heed::engine {
namespace {

TEST(Hub, AModelIsLoadedByItsName) {
  const hub::HubServer server;
  const std::filesystem::path decoder = SmallModels::all().decoder();
  for (const auto& entry : std::filesystem::directory_iterator(decoder))
    server.add(entry.path().filename().string(), read_file(entry.path()));
  LoadOptions options;
  options.hub = server.options();
  options.random_weights = 1;
  Model::load("acme/tiny", options);
  EXPECT_TRUE(server.requests("model.safetensors").empty());
  options.random_weights = {};
  const Model model = Model::load("acme/tiny", options);
  const std::vector<int32_t> prompt = model.tokenize("the old sailor");
  EXPECT_EQ(model.generate(prompt, {.max_new_tokens = 20}).tokens,
            Model::load(decoder).generate(prompt, {.max_new_tokens = 20}).tokens);
  expect_error([&] { Model::load("acme/absent", options); }, "has no such model");
}

}  // namespace
}  // namespace heed::engine

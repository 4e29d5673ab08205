// A model that is named OWNER/NAME is the one that the hub has under that name.
#include <gtest/gtest.h>

#include "heed/engine/loaded_model.h"
#include "heed/model.h"
#include "tests/engine/random_adapter.h"
#include "tests/engine/small_models.h"
#include "tests/hub/hub_server.h"

namespace heed::engine {
namespace {

TEST(Hub, AModelIsLoadedByItsName) {
  const hub::HubServer server;
  const std::filesystem::path decoder = models().decoder();
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

TEST(Hub, AnAdapterIsLoadedByItsName) {
  const hub::HubServer server;
  const TemporaryDirectory folder;
  const std::filesystem::path decoder = models().decoder(),
                              adapter = write_adapter(folder / "local", decoder, 1);
  for (const auto& entry : std::filesystem::directory_iterator(adapter))
    server.add(entry.path().filename().string(), read_file(entry.path()));
  const auto score = [&](const LoadOptions& options) {
    return Model::load(decoder, options).score("the old sailor").log_probability();
  };
  const double expected = score({.adapters = {{adapter}}});
  EXPECT_NE(expected, score({}));
  EXPECT_EQ(score({.adapters = {{"acme/tiny"}}, .hub = server.options()}), expected);
  const LoadOptions both{.adapters = {{"acme/tiny@main", "", 0.5f}, {"acme/tiny", "", 0.5f}},
                         .hub = server.options()};
  EXPECT_NEAR(score(both), expected, 1e-4);
  // A request chooses it by its name.
  const Model model = Model::load(decoder, both);
  expect_error([&] { loaded(model).adapters.named({"other"}); },
               "there is no adapter \"other\"; loaded are \"tiny@main\", \"tiny\"");
  expect_error([&] { score({.adapters = {{"acme/absent"}}, .hub = server.options()}); },
               "has no such model");
}

}  // namespace
}  // namespace heed::engine

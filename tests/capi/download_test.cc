// A download through the C API ends when its callback says so.
#include <gtest/gtest.h>

#include <algorithm>

#include "heed/c.h"
#include "tests/engine/small_models.h"
#include "tests/hub/hub_server.h"

namespace heed::capi {
namespace {

/// The parts of a download, which ends after some.
struct Progress {
  int calls = 0, calls_left = 0;
  std::string model = {};
  uint64_t total_bytes = 0;
};

int on_download(void* user_data, const heed_download* download) {
  auto& progress = *static_cast<Progress*>(user_data);
  ++progress.calls;
  progress.model = std::string(download->model.data, download->model.size);
  progress.total_bytes = std::max(progress.total_bytes, download->total_bytes);
  return --progress.calls_left == 0;
}

TEST(Download, EndsWhenItsCallbackSaysSoAndIsContinuedByTheNextLoad) {
  const hub::HubServer server;
  for (const auto& entry : std::filesystem::directory_iterator(engine::models().decoder()))
    server.add(entry.path().filename().string(), read_file(entry.path()), true);
  server.set_faults({{"/model.safetensors", {{"slowly", 20000}}}});
  const std::string endpoint = server.endpoint(), cache = server.cache().string();
  Progress progress{.calls_left = 2};
  heed_hub_options hub;
  heed_hub_options_init(&hub);
  hub.endpoint = endpoint.c_str();
  hub.cache = cache.c_str();
  hub.token = "";
  hub.offline = 0;
  hub.on_download = on_download;
  hub.user_data = &progress;
  heed_load_options options;
  heed_load_options_init(&options);
  options.hub = &hub;
  heed_error error = HEED_ERROR_INIT;
  heed_model* model = nullptr;
  EXPECT_EQ(heed_model_load("acme/tiny", &options, &model, &error), HEED_ERROR_CANCELLED);
  EXPECT_NE(std::string(error.message).find("the download was stopped"), std::string::npos)
      << error.message;
  EXPECT_EQ(model, nullptr);
  EXPECT_EQ(progress.calls, 2);
  EXPECT_EQ(progress.model, "acme/tiny");
  EXPECT_GT(progress.total_bytes, 0u);
  EXPECT_FALSE(std::filesystem::exists(server.snapshot() / "model.safetensors"));

  server.set_faults({});
  EXPECT_EQ(heed_model_load("acme/tiny", &options, &model, &error), HEED_OK) << error.message;
  EXPECT_EQ(heed_model_free(model, &error), HEED_OK);
}

}  // namespace
}  // namespace heed::capi

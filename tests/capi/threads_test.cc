// What belongs to one thread at a time refuses a second one.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "heed/c.h"
#include "tests/engine/small_models.h"

namespace heed::capi {
namespace {

/// What another thread gets from a session while this one is in its step.
struct Intruder {
  heed_session* session = nullptr;
  std::vector<heed_status> statuses = {};
  std::string message = {};
  int deltas = 0;
};

int intrude(void* user_data, const heed_delta*) {
  auto& intruder = *static_cast<Intruder*>(user_data);
  if (intruder.deltas++ > 0) return 0;
  std::thread([&] {
    heed_session* session = intruder.session;
    heed_error error = HEED_ERROR_INIT;
    heed_session_facts facts{};
    facts.struct_size = sizeof(facts);
    int32_t left = 0;
    intruder.statuses = {
        heed_session_step(session, &left, &error), heed_session_cancel(session, 1, nullptr),
        heed_session_get_facts(session, &facts, nullptr),
        heed_session_clear_cached_tokens(session, nullptr), heed_session_close(session, nullptr)};
    intruder.message = error.message;
  }).join();
  return 0;
}

TEST(Busy, ASessionRefusesASecondThreadAndGoesOn) {
  heed_error error = HEED_ERROR_INIT;
  heed_model* model = nullptr;
  const std::string path = engine::models().decoder().string();
  ASSERT_EQ(heed_model_load(path.c_str(), nullptr, &model, &error), HEED_OK) << error.message;
  Intruder intruder;
  ASSERT_EQ(heed_session_create(model, nullptr, &intruder.session, &error), HEED_OK);
  heed_generate_options generate;
  heed_generate_options_init(&generate);
  generate.max_new_tokens = 6;
  heed_request request;
  heed_request_init(&request);
  request.prompt.text = heed_string_of("the old sea");
  request.options = &generate;
  uint64_t id = 0;
  ASSERT_EQ(heed_session_add(intruder.session, &request, intrude, &intruder, &id, &error), HEED_OK);
  for (int32_t left = 1; left;)
    ASSERT_EQ(heed_session_step(intruder.session, &left, &error), HEED_OK) << error.message;
  EXPECT_EQ(intruder.statuses, std::vector<heed_status>(5, HEED_ERROR_BUSY));
  EXPECT_EQ(intruder.message, "the session is used by another thread");
  EXPECT_GE(intruder.deltas, 2);
  EXPECT_EQ(heed_session_free(intruder.session, &error), HEED_OK);
  EXPECT_EQ(heed_model_free(model, &error), HEED_OK);
}

TEST(Busy, ADecodeStreamRefusesASecondThread) {
  heed_error error = HEED_ERROR_INIT;
  heed_tokenizer* tokenizer = nullptr;
  heed_decode_stream* stream = nullptr;
  const std::string path = std::string(HEED_SOURCE_DIR) + "/tests/golden/tokenizers/qwen2.json";
  ASSERT_EQ(heed_tokenizer_load(path.c_str(), &tokenizer, &error), HEED_OK) << error.message;
  ASSERT_EQ(heed_decode_stream_create(tokenizer, 1, &stream, &error), HEED_OK);
  // Two threads meet sooner or later.
  std::atomic<bool> met = false;
  std::atomic<int> wrong = 0;
  const auto feed = [&] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    for (heed_string text; !met && std::chrono::steady_clock::now() < end;) {
      const heed_status status = heed_decode_stream_feed(stream, 75, &text, nullptr);
      if (status == HEED_ERROR_BUSY) met = true;
      if (status != HEED_OK && status != HEED_ERROR_BUSY) ++wrong;
    }
  };
  std::thread other(feed);
  feed();
  other.join();
  EXPECT_TRUE(met);
  EXPECT_EQ(wrong, 0);
  heed_string text;
  EXPECT_EQ(heed_decode_stream_finish(stream, &text, &error), HEED_OK);
  EXPECT_EQ(heed_decode_stream_free(stream, &error), HEED_OK);
  EXPECT_EQ(heed_tokenizer_free(tokenizer, &error), HEED_OK);
}

}  // namespace
}  // namespace heed::capi

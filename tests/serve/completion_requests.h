#pragma once

#include <string>
#include <vector>

#include "tests/serve/running_server.h"

namespace heed::serve {

/// The chunks of a stream, which must end with [DONE].
inline std::vector<Json> streamed(const std::string& path, Json request) {
  request["stream"] = true;
  request["stream_options"] = {{"include_usage", true}};
  const Answer answer = post(path, request);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.headers.at("content-type"), "text/event-stream");
  std::vector<Json> chunks;
  std::vector<Event> events = events_of(answer.body);
  if (events.empty() || events.back().data != "[DONE]") {
    ADD_FAILURE() << "no [DONE]: " << answer.body;
    return chunks;
  }
  events.pop_back();
  for (const Event& event : events) chunks.push_back(Json::parse(event.data));
  return chunks;
}

/// Fields of sampling, each with a value that routes refuse.
inline const Json kWrongSampling = {{"max_tokens", -2},
                                    {"temperature", -1},
                                    {"top_p", 2},
                                    {"top_k", "a"},
                                    {"min_p", 1.5},
                                    {"presence_penalty", "a"},
                                    {"frequency_penalty", 101},
                                    {"seed", -2},
                                    {"stop", 1},
                                    {"n", 0},
                                    {"stream", 1},
                                    {"logit_bias", {{"99999", 1}}},
                                    {"stop_token_ids", {-1}},
                                    {"stream_options", 3},
                                    {"mirostat", 2},
                                    {"repeat_penalty", 0},
                                    {"ignore_eos", 1},
                                    {"temprature", 1}};

}  // namespace heed::serve

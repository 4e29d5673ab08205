// Answers do not depend on what else the server does.
#include <future>

#include "tests/serve/running_server.h"

namespace heed::serve {
namespace {

/// Requests of every kind, to models of every kind.
std::vector<std::pair<std::string, Json>> requests() {
  std::vector<std::pair<std::string, Json>> list;
  for (int i = 0; i < 4; ++i) {
    const std::string text =
        std::string("the old sea ship").substr(0, 7 + static_cast<size_t>(3 * i));
    list.push_back({"/v1/completions",
                    {{"model", "lm"}, {"prompt", text}, {"max_tokens", 12}, {"logprobs", 1}}});
    list.push_back({"/v1/completions",
                    {{"model", "lm"},
                     {"prompt", text},
                     {"max_tokens", 12},
                     {"temperature", 1},
                     {"seed", i},
                     {"n", 2}}});
    list.push_back({"/v1/chat/completions",
                    {{"model", "chat"},
                     {"messages", {{{"role", "user"}, {"content", text}}}},
                     {"max_tokens", 10}}});
    list.push_back({"/v1/embeddings", {{"model", "encoder"}, {"input", {text, "sea"}}}});
    list.push_back({"/v1/translate", {{"model", "en-de"}, {"text", text}, {"n_best", 2}}});
    list.push_back(
        {"/v1/rerank", {{"model", "reranker"}, {"query", text}, {"documents", {"sea", "ship"}}}});
    list.push_back({"/v1/score", {{"model", "lm"}, {"text", text}}});
    list.push_back({"/v1/fill", {{"model", "masked"}, {"text", "the [MASK] sea"}}});
    list.push_back({"/v1/attention", {{"model", "lm"}, {"text", text}, {"layer", 0}}});
  }
  return list;
}

/// The answer without what differs each time.
std::string answer_to(const std::pair<std::string, Json>& request) {
  Json answer = posted(request.first, request.second);
  answer.erase("id");
  answer.erase("created");
  return answer.dump();
}

TEST(Load, EveryAnswerIsTheSameWhateverElseIsAsked) {
  constexpr int kClients = 8;
  const auto list = requests();
  std::vector<std::string> alone;
  for (const auto& request : list) alone.push_back(answer_to(request));
  std::vector<std::future<void>> clients;
  for (size_t client = 0; client < kClients; ++client)
    clients.push_back(std::async(std::launch::async, [&, client] {
      for (size_t i = 0; i < list.size(); ++i) {
        const size_t one = (i * (2 * client + 1) + client) % list.size();
        EXPECT_EQ(answer_to(list[one]), alone[one]) << list[one].first << ' ' << list[one].second;
      }
    }));
  for (std::future<void>& client : clients) client.get();
}

}  // namespace
}  // namespace heed::serve

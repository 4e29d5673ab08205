// session_bench MODEL [ROUNDS]: tokens per second of a heed::Session with n requests at a time,
// beside fixed batches of n requests that wait for their longest one. Medians of alternating
// rounds.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <vector>

#include "heed/heed.h"

namespace {

constexpr int kGroups = 3;  // groups of n requests in a round
constexpr int kPromptTokens = 16;

/// A request of exactly `max_new_tokens` tokens: end tokens are forbidden.
heed::Request request(const heed::Model& model, int number, int64_t max_new_tokens) {
  std::vector<int32_t> prompt;
  for (int i = 0; i < kPromptTokens; ++i)
    prompt.push_back(static_cast<int32_t>((7919 * (number + 1) + 104729 * i) % model.vocab_size()));
  heed::Request request{.prompt = prompt, .options = {.max_new_tokens = max_new_tokens}};
  for (const int32_t token : model.eos_ids())
    request.options.logit_bias.push_back({token, -std::numeric_limits<float>::infinity()});
  return request;
}

/// Tokens per second of the requests. `at_a_time` requests run together; with `fixed`, all of these
/// end before others begin.
double rate(const heed::Model& model, const std::vector<heed::Request>& requests, int64_t at_a_time,
            bool fixed) {
  heed::Session session(model, {.max_active_tokens = int64_t{1} << 30, .max_cached_tokens = 0});
  int64_t tokens = 0;
  const auto count = [&](const heed::Delta& delta) {
    tokens += static_cast<int64_t>(delta.tokens.size());
    return true;
  };
  const auto begin = std::chrono::steady_clock::now();
  auto next = requests.begin();
  while (next != requests.end() || session.requests() > 0) {
    if (!fixed || session.requests() == 0)
      while (next != requests.end() && session.requests() < at_a_time) session.add(*next++, count);
    session.step();
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  return static_cast<double>(tokens) / seconds.count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

void compare(const heed::Model& model, const char* lengths, int64_t n, int rounds,
             const std::function<int64_t(int)>& length) {
  std::vector<heed::Request> requests;
  for (int i = 0; i < kGroups * n; ++i) requests.push_back(request(model, i, length(i)));
  std::vector<double> session, fixed, ratios;
  for (int round = 0; round < rounds; ++round) {
    session.push_back(rate(model, requests, n, false));
    fixed.push_back(rate(model, requests, n, true));
    ratios.push_back(session.back() / fixed.back());
  }
  fmt::print(
      "{:>3} requests, {:5} lengths: session {:8.1f} tokens/s, fixed batches {:8.1f}, ratio "
      "{:.3f}\n",
      n, lengths, median(session), median(fixed), median(ratios));
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: session_bench MODEL [ROUNDS]\n");
    return 2;
  }
  const heed::Model model = heed::Model::load(argv[1]);
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
  for (const int64_t n : {1, 8, 32, 64}) {
    compare(model, "equal", n, rounds, [](int) { return 32; });
    compare(model, "mixed", n, rounds, [](int i) { return 4 + (37 * i) % 57; });
  }
  return 0;
}

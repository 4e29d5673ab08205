// speculation_bench MODEL WEIGHTS ngram|DRAFT DRAFT_WEIGHTS MAX_NEW_TOKENS TEMPERATURE < PROMPTS:
// the time that a model takes for each prompt alone, without speculative decoding and with it, in
// turn. A prompt is a line, in which \n stands for a line end. WEIGHTS is "stored" or a type; bf16
// also computes in bf16.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>

#include "heed/base/names.h"
#include "heed/heed.h"
#include "heed/load_options.h"

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::optional<heed::WeightType> weight_type(const std::string& name) {
  if (name == "stored") return std::nullopt;
  return heed::named(name, heed::kWeightTypes);
}

/// Seconds of all prompts, and of them after the first token of each output.
struct Times {
  double whole = 0, decoding = 0;
};

heed::Generation generate(const heed::Model& model, const std::string& prompt,
                          const heed::GenerateOptions& options, Times& times) {
  heed::Session session(model, {.max_cached_tokens = 0});
  heed::Generation result;
  Clock::time_point first = {};
  const Clock::time_point begin = Clock::now();
  session.add({.prompt = prompt, .options = options}, [&](const heed::Delta& delta) {
    if (first == Clock::time_point()) first = Clock::now();
    if (delta.generation) result = *delta.generation;
    return true;
  });
  while (session.step()) {
  }
  times.whole += seconds_since(begin);
  times.decoding += seconds_since(first);
  return result;
}

std::string unescaped(std::string line) {
  for (size_t at = 0; (at = line.find("\\n", at)) != std::string::npos; ++at)
    line.replace(at, 2, "\n");
  return line;
}

int run(char** words) {
  heed::LoadOptions standard{.weights = weight_type(words[2])};
  if (standard.weights == heed::WeightType::bf16) standard.compute = heed::Compute::bf16;
  heed::LoadOptions speculative = standard;
  if (words[3] == std::string("ngram"))
    speculative.speculation.ngram = true;
  else
    speculative.speculation = {.draft = words[3], .draft_weights = weight_type(words[4])};
  const heed::Model plain = heed::Model::load(words[1], standard);
  const heed::Model drafted = heed::Model::load(words[1], speculative);
  heed::GenerateOptions options{.max_new_tokens = std::stoll(words[5])};
  if (const float temperature = std::stof(words[6]); temperature > 0)
    options.temperature = temperature;
  Times without, with;
  int64_t prompts = 0, same = 0, tokens = 0, proposed = 0, accepted = 0;
  for (std::string line; std::getline(std::cin, line); ++prompts) {
    const std::string prompt = unescaped(line);
    heed::Generation expected, found;
    if (prompts % 2 == 0) expected = generate(plain, prompt, options, without);
    found = generate(drafted, prompt, options, with);
    if (prompts % 2 == 1) expected = generate(plain, prompt, options, without);
    same += found.tokens == expected.tokens && found.text == expected.text;
    tokens += static_cast<int64_t>(found.tokens.size());
    proposed += found.drafted_tokens;
    accepted += found.accepted_tokens;
  }
  fmt::print(
      "{} prompts, {} identical, {} tokens; {} drafted, {} right; {:.2f} times as fast ({:.2f} "
      "after "
      "the first token)\n",
      prompts, same, tokens, proposed, accepted, without.whole / with.whole,
      without.decoding / with.decoding);
  return same == prompts ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: speculation_bench MODEL WEIGHTS ngram|DRAFT DRAFT_WEIGHTS MAX_NEW_TOKENS "
                 "TEMPERATURE < PROMPTS\n");
    return 2;
  }
  try {
    return run(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "speculation_bench: error: %s\n", error.what());
    return 1;
  }
}

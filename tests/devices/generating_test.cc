// Generation on a GPU: as on the CPU.
#include <gtest/gtest.h>

#include <thread>

#include "heed/session.h"
#include "tests/base/forked.h"
#include "tests/base/testing.h"
#include "tests/devices/on_a_gpu.h"
#include "tests/engine/random_adapter.h"
#include "tests/engine/small_models.h"

namespace heed {
namespace {

using Outputs = std::vector<std::vector<int32_t>>;

Outputs generated(const Model& model) {
  Outputs outputs;
  for (const Generation& output :
       model.generate_batch({"one two one two", "three", "the sea the sea the"},
                            {.max_new_tokens = 20, .temperature = 0.8f, .seed = 3}))
    outputs.push_back(output.tokens);
  return outputs;
}

TEST(GeneratingOnAGpu, SpeculationChangesNoToken) {
  const std::filesystem::path decoder = engine::models().decoder();
  for (const std::optional<Compute> compute :
       {std::optional<Compute>(), {Compute::bf16}, {Compute::int8}}) {
    const OnBoth models(decoder, {.compute = compute});
    const Outputs expected = generated(models.gpu);
    EXPECT_EQ(generated(models.cpu) == expected, compute != Compute::bf16);
    for (const SpeculationOptions& speculation :
         {SpeculationOptions{.ngram = true},
          {.draft = decoder.string()},
          {.draft = decoder.string(), .draft_weights = WeightType::q8_0}})
      EXPECT_EQ(
          generated(OnBoth::load(decoder, {.compute = compute, .speculation = speculation}, "gpu")),
          expected);
  }
}

TEST(GeneratingOnAGpu, ADraftModelOf16BitsDraftsInBf16) {
  const TemporaryDirectory folder;
  engine::write_decoder(folder.path() / "draft");
  engine::store_in_16_bits(folder.path() / "draft");
  const std::filesystem::path decoder = engine::models().decoder();
  const Model model =
      OnBoth::load(decoder, {.speculation = {.draft = (folder.path() / "draft").string()}}, "gpu");
  const auto outputs = model.generate_batch({"one two one two"}, {.max_new_tokens = 20});
  EXPECT_EQ(
      outputs[0].tokens,
      OnBoth::load(decoder, {}, "gpu").generate("one two one two", {.max_new_tokens = 20}).tokens);
  EXPECT_GT(outputs[0].drafted_tokens, 0);
}

TEST(GeneratingOnAGpu, EachRequestHasItsOwnAdapters) {
  const TemporaryDirectory folder;
  const std::filesystem::path decoder = engine::models().decoder();
  LoadOptions options;
  for (const char* const name : {"a", "b"})
    options.adapters.push_back(
        {.path = engine::write_adapter(folder / name, decoder, name[0] - 'a' + 1u), .name = name});
  const OnBoth models(decoder, options);
  const auto outputs = [](const Model& model) {
    Session session(model);
    Outputs all(4);
    const std::vector<std::string> none, choices[] = {{}, {"a"}, {"b"}, {"a", "b"}};
    for (size_t i = 0; i < all.size(); ++i)
      session.add(
          {.prompt = "the old sea", .options = {.max_new_tokens = 8}, .adapters = choices[i]},
          [&all, i](const Delta& delta) {
            if (delta.generation) all[i] = delta.generation->tokens;
            return true;
          });
    while (session.step()) {
    }
    return all;
  };
  const Outputs found = outputs(models.gpu);
  EXPECT_EQ(found, outputs(models.cpu));
  EXPECT_NE(found[0], found[1]);
  EXPECT_NE(found[1], found[2]);
}

TEST(GeneratingOnAGpu, BeamsAreThoseOfTheCpu) {
  const OnBoth models(engine::models().decoder());
  const auto search = [](const Model& model) {
    Outputs outputs;
    for (const auto& candidates : model.search_batch(
             {"the sea", "one two"}, {.num_beams = 4, .n_best = 3}, {.max_new_tokens = 8}))
      for (const Candidate& candidate : candidates) outputs.push_back(candidate.hypothesis.tokens);
    return outputs;
  };
  EXPECT_EQ(search(models.gpu), search(models.cpu));
}

/// Texts, tokens and alignments.
std::string translations(const Model& model, const TranslateOptions& options) {
  std::string all;
  for (const Translation& line : model.translate_batch({"the old sea", "a ship went out"}, options))
    for (const Candidate& candidate : line.candidates)
      all += fmt::format("{} [{}] {}\n", candidate.text,
                         fmt::join(candidate.hypothesis.tokens, " "), pharaoh(candidate.alignment));
  return all;
}

TEST(GeneratingOnAGpu, TranslationsAndAlignmentsAreThoseOfTheCpu) {
  for (const Compute compute : {Compute::f32, Compute::int8}) {
    const OnBoth models(engine::models().translator(), {.compute = compute});
    const TranslateOptions options{
        .search = {.num_beams = 3, .n_best = 2, .max_new_tokens_over_source = 5},
        .alignments = true};
    EXPECT_EQ(translations(models.gpu, options), translations(models.cpu, options));
  }
  // The first token is that of the language.
  const OnBoth many(golden_folder("translation/nllb"));
  const TranslateOptions options{.search = {.num_beams = 2, .max_new_tokens = 8},
                                 .source_language = "eng_Latn",
                                 .target_language = "fra_Latn"};
  EXPECT_EQ(translations(many.gpu, options), translations(many.cpu, options));
}

TEST(GeneratingOnAGpu, ThreadsShareAModel) {
  const OnBoth models(engine::models().decoder());
  const Outputs expected = generated(models.gpu);
  std::vector<Outputs> found(3);
  std::vector<std::thread> threads;
  for (Outputs& own : found) threads.emplace_back([&] { own = generated(models.gpu); });
  for (std::thread& thread : threads) thread.join();
  for (const Outputs& own : found) EXPECT_EQ(own, expected);
}

TEST(GeneratingOnAGpu, AForkedChildIsToldThatItCannotUseTheModel) {
  const Model model =
      OnBoth::load(engine::models().decoder(), {.executor = std::make_shared<Executor>(1)}, "gpu");
  const std::string name = kernels::test_gpu().name();
  EXPECT_EQ(in_forked_child([&] { return model.generate("the sea").text; }),
            name +
                " was opened before this process was forked: a forked child cannot use it, nor a "
                "model that was loaded onto it");
  const auto load_in_child = [](const std::string& device) {
    return in_forked_child([&]() -> std::string {
      const Model loaded =
          Model::load(engine::models().decoder(),
                      {.device = device, .executor = std::make_shared<Executor>(1)});
      return loaded.gpu() + "/" + loaded.generate("the sea", {.max_new_tokens = 3}).text;
    });
  };
  EXPECT_EQ(load_in_child("gpu"),
            "the driver of the GPU was started before this process was forked: a forked child "
            "cannot use it");
  // The CPU can be used.
  EXPECT_EQ(load_in_child("auto"), "/" + model.generate("the sea", {.max_new_tokens = 3}).text);
}

TEST(GeneratingOnAGpu, WhatOnlyTheCpuDoesIsRefusedByName) {
  const TemporaryDirectory folder;
  expect_error(
      [&] {
        OnBoth::load(engine::models().decoder(), {.weight_cache = folder.path().string()}, "gpu");
      },
      "a weight cache holds weights packed for the CPU");
}

}  // namespace
}  // namespace heed

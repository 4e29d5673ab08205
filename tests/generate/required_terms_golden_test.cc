// Beam search with required terms against the constrained beam search of transformers:
// tests/golden/required_terms/make.py made the expected outputs.
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/generate/search.h"
#include "tests/generate/golden_continuations.h"

namespace heed::generate {
namespace {

using Json = nlohmann::json;

std::shared_ptr<const RequiredTerms> terms_in(const Json& terms, const model::ModelConfig& config) {
  std::vector<RequiredTerm> required;
  for (const Json& alternatives : terms)
    required.push_back({.name = "golden", .alternatives = alternatives});
  return std::make_shared<RequiredTerms>(std::move(required), config.vocab_size);
}

Json expected_outputs() {
  const auto file =
      std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/required_terms/expected.json";
  return parse_json(read_file(file), file.string());
}

/// The outputs with the terms of a case.
std::vector<std::vector<SearchResult>> outputs_of(const Json& one, const model::Transformer& model,
                                                  const std::vector<std::vector<int32_t>>& prompts,
                                                  int64_t most_tokens,
                                                  const SearchOptions& options) {
  const model::ModelConfig& config = model.config();
  const bool encodes = config.encoder_layers > 0;
  SearchBatch batch{.rules = {.eos_ids = {one.value("eos", 1)}}};
  for (const std::vector<int32_t>& prompt : prompts) {
    GeneratorInput input{.max_new_tokens = most_tokens};
    if (encodes) input.source = prompt;
    input.prompt = encodes ? std::vector<int32_t>{config.decoder_start_id} : prompt;
    batch.inputs.push_back(std::move(input));
    batch.terms.push_back(terms_in(one["terms"], config));
  }
  return search(model, DType::f32, batch, options);
}

std::set<std::vector<int32_t>> set_of(const Json& outputs) {
  std::set<std::vector<int32_t>> tokens;
  for (const Json& output : outputs) tokens.insert(output["tokens"].get<std::vector<int32_t>>());
  return tokens;
}

std::set<std::vector<int32_t>> set_of(const std::vector<SearchResult>& outputs) {
  std::set<std::vector<int32_t>> tokens;
  for (const SearchResult& output : outputs) tokens.insert(output.hypothesis.tokens);
  return tokens;
}

void expect_equal(const std::vector<SearchResult>& found, const Json& expected) {
  EXPECT_EQ(set_of(found), set_of(expected));
  ASSERT_EQ(found.size(), expected.size());
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i].hypothesis.score, expected[i]["score"].get<double>(), 1e-4);
}

TEST(RequiredTerms, GiveTheSetsOfTransformersIfTheBeamHasRoomForAll) {
  const auto model = checkpoint::load_model(std::filesystem::path(HEED_SOURCE_DIR) /
                                            "tests/golden/required_terms/wide");
  const Json all = expected_outputs();
  ASSERT_GT(all["wide"].size(), 4u);
  for (const Json& one : all["wide"]) {
    SCOPED_TRACE(one["terms"].dump());
    const auto found = outputs_of(one, *model, {one["source"]}, 3,
                                  {.num_beams = 256, .n_best = 256, .length_penalty = 0.0f});
    expect_equal(found.front(), one["outputs"]);
  }
}

TEST(RequiredTerms, GiveTheBeamsOfTransformersWithTheChangesThatTheScriptStates) {
  std::map<std::string, std::unique_ptr<model::Transformer>> models;
  const Json all = expected_outputs();
  ASSERT_GT(all["cases"].size(), 20u);
  for (const Json& one : all["cases"]) {
    const std::string family = one["model"];
    GoldenContinuations golden = golden_continuations(family);
    golden.prompts.resize(one["outputs"].size());
    if (!models[family]) models[family] = checkpoint::load_model(golden.model);
    const auto found = outputs_of(one, *models[family], golden.prompts, 12,
                                  {.num_beams = one["num_beams"], .n_best = one["num_beams"]});
    for (size_t i = 0; i < found.size(); ++i) {
      SCOPED_TRACE(family + ", terms " + one["terms"].dump() + ", prompt " + std::to_string(i));
      expect_equal(found[i], one["outputs"][i]);
    }
  }
}

}  // namespace
}  // namespace heed::generate

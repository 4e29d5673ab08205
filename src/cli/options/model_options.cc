#include "cli/options/model_options.h"

#include <array>
#include <vector>

#include "cli/find_model.h"
#include "cli/terminal/warnings.h"
#include "heed/base/names.h"
#include "heed/engine/load_types.h"

namespace heed::cli {

void add_model_options(Command& command, ModelOptions& options, bool bf16) {
  std::vector<std::string> arithmetic{"auto", "f32", "int8"};
  std::vector<std::string> weights{"stored"};
  for (const WeightType type : engine::kWeightTypes) weights.emplace_back(name_of(type));
  if (bf16) arithmetic.emplace_back("bf16");
  const auto set_weights = [&load = options.load](const std::string& name) {
    load.weights =
        name == "stored" ? std::nullopt : std::optional(named(name, engine::kWeightTypes));
  };
  const auto set_compute = [&load = options.load](const std::string& name) {
    load.compute = name == "auto" ? std::nullopt : std::optional(named(name, engine::kComputes));
  };
  command.add_option("--model", options.path, kModelHelp).required();
  command.add_option("--adapter", options.adapters, kAdapterHelp);
  command
      .add_callback(
          "--weights", set_weights,
          "Type of the weights: as stored in the file, or converted to this type while loading")
      .one_of(weights)
      .show_default("stored");
  command
      .add_callback("--compute", set_compute,
                    "Arithmetic of matrix products. int8 quantises activations to 8 bits; weights "
                    "that are not "
                    "quantised become q8_0. auto: int8 if the weights are quantised, else f32")
      .one_of(arithmetic)
      .show_default("auto");
  command.add_option(
      "--random-weights", options.load.random_weights,
      "Initialise the weights randomly from this seed instead of reading them; needs only "
      "config.json");
  command.add_option("--rope-context", options.load.rope_context,
                     "Longest text in tokens, of a model with scaled rotary positions. Without it: "
                     "what linear scaling, llama3 and yarn are made for; where the frequencies "
                     "depend on it (dynamic, longrope), the original context");
  command.add_option(
      "--weight-cache", options.load.weight_cache,
      "Local directory where processes that load the same model share packed weights, "
      "in a file as large as these");
}

std::vector<Option> add_speculation_options(Command& command, ModelOptions& options) {
  SpeculationOptions& speculation = options.load.speculation;
  std::vector<std::string> weights;
  for (const WeightType type : engine::kWeightTypes) weights.emplace_back(name_of(type));
  Option ngram =
      command
          .add_callback(
              "--speculate", [&](const std::string&) { speculation.ngram = true; },
              "Speculative decoding, which makes outputs that repeat parts of the prompt faster "
              "and "
              "changes none. ngram: drafts what followed the same tokens before, and checks "
              "several tokens at a time")
          .one_of({"ngram"});
  Option draft =
      command
          .add_option("--draft", options.draft,
                      "Speculative decoding with the drafts of a smaller model that has "
                      "the same tokenizer; it may be --model itself with --draft-weights")
          .excludes(ngram);
  Option draft_weights = command
                             .add_callback(
                                 "--draft-weights",
                                 [&](const std::string& name) {
                                   speculation.draft_weights = named(name, engine::kWeightTypes);
                                 },
                                 "Type of the weights of --draft (default: as stored)")
                             .one_of(weights)
                             .needs(draft);
  return {ngram, draft, draft_weights};
}

Model load_model(const ModelOptions& options, const Threads& threads,
                 std::shared_ptr<const nn::Parts> parts) {
  LoadOptions load = options.load;
  load.parts = std::move(parts);
  load.executor = threads.executor();
  load.adapters = find_adapters(options.adapters);
  if (!options.draft.empty()) load.speculation.draft = find_model(options.draft);
  Model model = Model::load(find_model(options.path, {.weights = !load.random_weights}), load);
  print_warnings(model.warnings());
  return model;
}

Option add_cache_option(Command& command, ModelOptions& options) {
  const auto set_cache = [&load = options.load](const std::string& name) {
    load.cache = named(name, engine::kCacheTypes);
  };
  return command.add_callback("--cache", set_cache, "Type of the kv cache")
      .one_of({"f32", "bf16", "int8"});
}

void add_language_options(Command& command, std::string& source, std::string& target) {
  command.add_option("--source-language", source,
                     "Language of the input, for multilingual models, by the code of the model's "
                     "tokenizer (en, en_XX, eng_Latn)");
  command.add_option("--target-language", target, "Language to translate into, likewise");
}

}  // namespace heed::cli

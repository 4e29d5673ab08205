#include "cli/options/model_options.h"

#include <array>
#include <vector>

#include "cli/find_model.h"
#include "cli/options/declared_options.h"
#include "cli/terminal/warnings.h"
#include "heed/base/names.h"
#include "heed/engine/load_options.h"
#include "heed/load_options.h"

namespace heed::cli {

namespace load_option = engine::load_option;

void add_model_options(Command& command, ModelOptions& options, bool bf16) {
  std::vector<std::string> arithmetic{"auto", "f32", "int8"};
  std::vector<std::string> weights{"stored"};
  for (const WeightType type : kWeightTypes) weights.emplace_back(name_of(type));
  if (bf16) arithmetic.emplace_back("bf16");
  const auto set_weights = [&load = options.load](const std::string& name) {
    load.weights = name == "stored" ? std::nullopt : std::optional(named(name, kWeightTypes));
  };
  const auto set_compute = [&load = options.load](const std::string& name) {
    load.compute = name == "auto" ? std::nullopt : std::optional(named(name, kComputes));
  };
  command.add_option("--model", options.path, kModelHelp).required();
  command.add_option("--adapter", options.adapters, kAdapterHelp);
  add_declared_callback(command, load_option::weights, set_weights)
      .one_of(weights)
      .show_default("stored");
  add_declared_callback(command, load_option::compute, set_compute)
      .one_of(arithmetic)
      .show_default("auto");
  add_declared_option(command, load_option::random_weights, options.load);
  add_declared_option(command, load_option::rope_context, options.load);
  add_declared_option(command, load_option::weight_cache, options.load);
}

std::vector<Option> add_speculation_options(Command& command, ModelOptions& options) {
  SpeculationOptions& speculation = options.load.speculation;
  std::vector<std::string> weights;
  for (const WeightType type : kWeightTypes) weights.emplace_back(name_of(type));
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
                                   speculation.draft_weights = named(name, kWeightTypes);
                                 },
                                 "Type of the weights of --draft (default: as stored)")
                             .one_of(weights)
                             .needs(draft);
  return {ngram, draft, draft_weights};
}

Model load_model(const ModelOptions& options, const Threads& threads) {
  LoadOptions load = options.load;
  load.executor = threads.executor();
  load.adapters = find_adapters(options.adapters);
  if (!options.draft.empty()) load.speculation.draft = find_model(options.draft);
  Model model = Model::load(find_model(options.path, {.weights = !load.random_weights}), load);
  print_warnings(model.warnings());
  return model;
}

Option add_cache_option(Command& command, ModelOptions& options) {
  const auto set_cache = [&load = options.load](const std::string& name) {
    load.cache = named(name, kCacheTypes);
  };
  return add_declared_callback(command, load_option::cache, set_cache)
      .one_of({"f32", "bf16", "int8"});
}

void add_language_options(Command& command, std::string& source, std::string& target) {
  command.add_option("--source-language", source,
                     "Language of the input, for multilingual models, by the code of the model's "
                     "tokenizer (en, en_XX, eng_Latn)");
  command.add_option("--target-language", target, "Language to translate into, likewise");
}

}  // namespace heed::cli

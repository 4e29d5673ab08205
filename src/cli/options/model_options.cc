#include "cli/options/model_options.h"

#include <array>
#include <vector>

#include "cli/find_model.h"
#include "cli/options/declared_options.h"
#include "cli/terminal/warnings.h"
#include "heed/base/names.h"
#include "heed/engine/load_options.h"
#include "heed/generate/generate_options.h"
#include "heed/load_options.h"

namespace heed::cli {

using engine::LoadOption;

void add_model_options(Command& command, ModelOptions& options, bool by_position) {
  std::vector<std::string> weights{"stored"};
  for (const WeightType type : kWeightTypes) weights.emplace_back(name_of(type));
  const auto set_weights = [&load = options.load](const std::string& name) {
    load.weights = name == "stored" ? std::nullopt : std::optional(named(name, kWeightTypes));
  };
  command.add_option(by_position ? "model,--model" : "--model", options.path, kModelHelp)
      .names_model()
      .required();
  const OptionGroup group(command, kLoadingGroup);
  command.add_option("--adapter", options.adapters, kAdapterHelp);
  add_declared_callback(command, LoadOption::weights, set_weights)
      .one_of(weights)
      .show_default("stored");
  add_compute_option(command, options.load.compute, std::string(LoadOption::compute.help));
  add_declared_option(command, LoadOption::device, options.load).show_default();
  add_declared_option(command, LoadOption::random_weights, options.load);
  add_declared_option(command, LoadOption::rope_context, options.load);
  add_declared_option(command, LoadOption::weight_cache, options.load);
}

void add_compute_option(Command& command, std::optional<Compute>& compute,
                        const std::string& help) {
  const auto set = [&compute](const std::string& name) {
    compute = name == "auto" ? std::nullopt : std::optional(named(name, kComputes));
  };
  command.add_callback("--compute", set, help)
      .one_of({"auto", "f32", "int8", "bf16"})
      .show_default("auto");
}

std::vector<Option> add_speculation_options(Command& command, ModelOptions& options) {
  using engine::SpeculationOption;
  const OptionGroup group(command, "Speculative decoding");
  SpeculationOptions& speculation = options.load.speculation;
  const auto set_ngram = [&speculation](const std::string&) { speculation.ngram = true; };
  Option ngram =
      command.add_callback("--speculate", set_ngram, std::string(SpeculationOption::ngram.help))
          .one_of({"ngram"});
  Option draft = add_declared_value(command, SpeculationOption::draft, options.draft)
                     .names_model()
                     .excludes(ngram);
  Option draft_weights =
      add_declared_option(command, SpeculationOption::draft_weights, speculation).needs(draft);
  return {ngram, draft, draft_weights};
}

Model load_model(const ModelOptions& options, const Threads& threads) {
  LoadOptions load = options.load;
  load.executor = threads.executor();
  load.adapters = find_adapters(options.adapters);
  if (!options.draft.empty()) load.speculation.draft = find_model(options.draft);
  Model model = Model::load(find_model(options.path, {.weights = !load.random_weights}), load);
  print_warnings(model.warnings());
  if (!model.gpu().empty()) fmt::print(stderr, "heed: computes on {}\n", model.gpu());
  return model;
}

Model load_model(const ModelOptions& options, const Threads& threads, bool ModelTasks::*task) {
  Model model = load_model(options, threads);
  model.require_task(task);
  return model;
}

Option add_cache_option(Command& command, ModelOptions& options) {
  const OptionGroup group(command, kLoadingGroup);
  return add_declared_option(command, LoadOption::cache, options.load);
}

void add_shortlist_option(Command& command, ModelOptions& options) {
  const OptionGroup group(command, kLoadingGroup);
  add_declared_option(command, LoadOption::shortlist, options.load);
}

void add_language_options(Command& command, std::string& source, std::string& target) {
  using generate::TranslateOption;
  add_declared_value(command, TranslateOption::source_language, source);
  add_declared_value(command, TranslateOption::target_language, target);
}

}  // namespace heed::cli

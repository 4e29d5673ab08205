#include "heed/tasks/comet_settings.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "heed/base/error.h"
#include "heed/base/parse_number.h"
#include "heed/base/quote.h"
#include "heed/io/flat_yaml.h"

namespace heed::tasks {
namespace {

using io::FlatYaml;

/// Keys of training, of the progress of it, and of word labels, which are not computed.
const std::set<std::string_view> kOfTraining = {"batch_size",
                                                "cross_entropy_weights",
                                                "dropout",
                                                "encoder_learning_rate",
                                                "error_labels",
                                                "initalize_pretrained_unified_weights",
                                                "keep_embeddings_frozen",
                                                "layerwise_decay",
                                                "learning_rate",
                                                "load_pretrained_weights",
                                                "local_files_only",
                                                "loss",
                                                "loss_lambda",
                                                "nr_frozen_epochs",
                                                "optimizer",
                                                "train_data",
                                                "train_path",
                                                "validation_data",
                                                "validation_path",
                                                "val_data",
                                                "val_path",
                                                "warmup_steps",
                                                "word_layer",
                                                "word_level_training",
                                                "word_weights"};

/// The value of `key`, which must be a name of `choices`; `missing` if it is absent.
template <typename T>
T choice_of(const FlatYaml& yaml, const std::string& key, T missing,
            const std::vector<std::pair<std::string_view, T>>& choices) {
  const auto value = yaml.scalar(key);
  if (!value) return missing;
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (*value == name) return choice;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  fail("{}: {} is {}, which heed does not apply; it does {}", yaml.file(), key, quoted(*value),
       names);
}

int64_t size_of(const FlatYaml& yaml, const std::string& key, const std::string& text,
                int64_t least) {
  constexpr int64_t kMostUnits = 1 << 20;
  const auto number = parse_number<int64_t>(text);
  require(number && *number >= least && *number <= kMostUnits, "{}: {} is {}, expected {} to {}",
          yaml.file(), key, quoted(text), least, kMostUnits);
  return *number;
}

void read_segments(const FlatYaml& yaml, CometSettings& settings) {
  const auto segments = yaml.list("input_segments");
  if (!segments) return;
  const auto has = [&](const char* name) { return std::ranges::count(*segments, name) > 0; };
  settings.reads_source = has("src");
  settings.reads_reference = has("ref");
  std::vector<std::string> expected = {"mt"};
  if (settings.reads_source) expected.push_back("src");
  if (settings.reads_reference) expected.push_back("ref");
  require(*segments == expected && expected.size() > 1,
          "{}: input_segments must be mt and then src, ref or both", yaml.file());
}

void check_keys(const FlatYaml& yaml) {
  const std::set<std::string_view> used = {
      "class_identifier", "encoder_model",        "pretrained_model", "pool",         "layer",
      "sent_layer",       "layer_transformation", "layer_norm",       "hidden_sizes", "activations",
      "final_activation", "input_segments"};
  for (const auto& [key, value] : yaml.values())
    require(used.contains(key) || kOfTraining.contains(key), "{}: {} is no setting that heed knows",
            yaml.file(), quoted(key));
}

void read_mixture(const FlatYaml& yaml, CometSettings& settings) {
  const bool unified = settings.kind == CometSettings::Kind::unified;
  const std::string key = unified ? "sent_layer" : "layer";
  const std::string layer = yaml.scalar(key).value_or("mix");
  if (layer != "mix") settings.layer = size_of(yaml, key, layer, 0);
  // A model that was trained with a faulty sparsemax is applied with softmax.
  settings.sparsemax =
      choice_of<bool>(yaml, "layer_transformation", unified,
                      {{"softmax", false}, {"sparsemax", true}, {"sparsemax_patch", false}});
  settings.layer_norm =
      choice_of<bool>(yaml, "layer_norm", true, {{"true", true}, {"false", false}});
}

}  // namespace

CometSettings read_comet_settings(const std::filesystem::path& file) {
  using Kind = CometSettings::Kind;
  using Pooling = CometSettings::Pooling;
  using Activation = CometSettings::Activation;
  const FlatYaml yaml(file);
  CometSettings settings;
  require(yaml.scalar("class_identifier").has_value(), "{}: class_identifier is missing",
          yaml.file());
  settings.kind = choice_of<Kind>(yaml, "class_identifier", Kind::regression,
                                  {{"regression_metric", Kind::regression},
                                   {"referenceless_regression_metric", Kind::referenceless},
                                   {"unified_metric", Kind::unified}});
  check_keys(yaml);
  choice_of<bool>(yaml, "encoder_model", true, {{"XLM-RoBERTa", true}});
  settings.encoder = yaml.scalar("pretrained_model").value_or("");
  read_mixture(yaml, settings);
  settings.pooling = choice_of<Pooling>(yaml, "pool", Pooling::average,
                                        {{"avg", Pooling::average},
                                         {"max", Pooling::maximum},
                                         {"cls", Pooling::first},
                                         {"default", Pooling::last_layer}});
  if (settings.kind == Kind::unified) settings.pooling = Pooling::first;
  const std::string first = settings.kind == Kind::referenceless ? "2048" : "3072";
  for (const std::string& size :
       yaml.list("hidden_sizes").value_or(std::vector<std::string>{first, "1024"}))
    settings.hidden_sizes.push_back(size_of(yaml, "hidden_sizes", size, 1));
  require(!settings.hidden_sizes.empty(), "{}: hidden_sizes has no sizes", yaml.file());
  const std::vector<std::pair<std::string_view, Activation>> activations = {
      {"Tanh", Activation::tanh},
      {"tanh", Activation::tanh},
      {"Sigmoid", Activation::sigmoid},
      {"sigmoid", Activation::sigmoid}};
  settings.activation = choice_of(yaml, "activations", Activation::tanh, activations);
  settings.final_activation = choice_of(yaml, "final_activation", Activation::none, activations);
  if (settings.kind == Kind::unified) read_segments(yaml, settings);
  return settings;
}

}  // namespace heed::tasks

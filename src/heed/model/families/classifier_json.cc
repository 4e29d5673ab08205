#include "heed/model/families/classifier_json.h"

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/names.h"
#include "heed/model/config_fields.h"

namespace heed::model {
namespace {

constexpr const char* kLabels = "id2label";
constexpr const char* kSentenceTransformers = "sentence_transformers";
constexpr const char* kActivation = "activation_fn";
constexpr int64_t kMaxLabels = int64_t{1} << 20;

std::vector<std::string> read_labels(ConfigReader& json) {
  const nlohmann::json& found = json.value(kLabels);
  std::vector<std::string> labels;
  const auto count = json.get_or<int64_t>("num_labels", 2);
  if (found.is_null()) {
    require(count >= 1 && count <= kMaxLabels, "{}: num_labels is {}, expected 1 to {}",
            json.file(), count, kMaxLabels);
    for (int64_t label = 0; label < count; ++label)
      labels.push_back(fmt::format("LABEL_{}", label));
    return labels;
  }
  require(found.is_object() && !found.empty(), "{}: {} is {}, expected an object of labels",
          json.file(), kLabels, excerpt(found));
  for (size_t label = 0; label < found.size(); ++label) {
    const std::string key = std::to_string(label);
    require(found.contains(key), "{}: {} has {} labels, and {} is not among them", json.file(),
            kLabels, found.size(), key);
    labels.push_back(get<std::string>(found, key, json.file()));
  }
  return labels;
}

}  // namespace

ClassifierConfig::Kind classifier_kind_of(std::string_view architecture) {
  using enum ClassifierConfig::Kind;
  for (const auto kind : {sequence, token})
    if (architecture.ends_with(architecture_suffix(kind))) return kind;
  return none;
}

std::string_view architecture_suffix(ClassifierConfig::Kind kind) {
  return kind == ClassifierConfig::Kind::sequence ? "ForSequenceClassification"
                                                  : "ForTokenClassification";
}

std::string read_architecture(ConfigReader& json) {
  const nlohmann::json& found = json.value("architectures");
  if (found.is_null()) return {};
  require(found.is_array() && !found.empty() && found.front().is_string(),
          "{}: architectures is {}, expected a list of names", json.file(), excerpt(found));
  return found.front().get<std::string>();
}

bool is_sigmoid(const std::string& activation, const std::string& file) {
  // sentence-transformers does not load what is not PyTorch's.
  const bool known = activation.starts_with("torch.");
  if (known && activation.ends_with(".Sigmoid")) return true;
  require(known && activation.ends_with(".Identity"),
          "{}: the activation of scores is {}, expected PyTorch's Sigmoid or Identity", file,
          quoted(activation));
  return false;
}

ClassifierConfig read_classifier(ConfigReader& json, ClassifierConfig::Kind kind) {
  ClassifierConfig c{.kind = kind};
  if (kind == ClassifierConfig::Kind::none) return c;
  c.labels = read_labels(json);
  if (const auto problem = json.get_or<std::string>("problem_type", ""); !problem.empty())
    c.problem = named(problem, values_of<ClassifierConfig::Problem>());
  auto activation = json.get_or<std::string>("sbert_ce_default_activation_function", "");
  if (const nlohmann::json& own = json.value(kSentenceTransformers); own.is_object())
    activation = get_or<std::string>(own, kActivation, activation, json.file());
  if (!activation.empty()) c.sigmoid_score = is_sigmoid(activation, json.file());
  return c;
}

void write_classifier(const ClassifierConfig& c, nlohmann::json& json) {
  if (!c.present()) return;
  json[kLabels] = json["label2id"] = nlohmann::json::object();
  for (size_t label = 0; label < c.labels.size(); ++label) {
    json[kLabels][std::to_string(label)] = c.labels[label];
    json["label2id"][c.labels[label]] = label;
  }
  if (c.problem != ClassifierConfig::Problem::unspecified)
    json["problem_type"] = name_of(c.problem);
  if (!c.sigmoid_score)
    json[kSentenceTransformers] = {{kActivation, "torch.nn.modules.linear.Identity"}};
}

}  // namespace heed::model

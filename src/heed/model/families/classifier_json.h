#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "heed/model/config.h"
#include "heed/model/families/config_reader.h"

namespace heed::model {

// The fields of a classifier that all config.json files have in common, and the decoders that have
// one.

/// The head that the first of "architectures" names by its end: "ForSequenceClassification" or
/// "ForTokenClassification".
ClassifierConfig::Kind classifier_kind_of(std::string_view architecture);
/// "ForSequenceClassification" or "ForTokenClassification".
std::string_view architecture_suffix(ClassifierConfig::Kind kind);

/// The first of "architectures"; empty when it is missing. Throws Error unless it is a list of
/// names.
std::string read_architecture(ConfigReader& json);

/// Labels from "id2label" (else LABEL_0, ...), "problem_type", and the activation of
/// sentence-transformers' CrossEncoder: "activation_fn" in "sentence_transformers", or
/// "sbert_ce_default_activation_function". Throws Error naming what is missing or unknown.
ClassifierConfig read_classifier(ConfigReader& json, ClassifierConfig::Kind kind);
void write_classifier(const ClassifierConfig& classifier, nlohmann::json& json);

/// Whether an activation of PyTorch, such as "torch.nn.modules.linear.Identity", is the sigmoid or
/// the identity. Throws Error on any other.
bool is_sigmoid(const std::string& activation, const std::string& file);

}  // namespace heed::model

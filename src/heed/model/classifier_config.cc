#include "heed/model/classifier_config.h"

namespace heed::model {

std::string_view name_of(ClassifierConfig::Kind kind) {
  switch (kind) {
    case ClassifierConfig::Kind::none:
      return "none";
    case ClassifierConfig::Kind::sequence:
      return "sequence";
    case ClassifierConfig::Kind::token:
      return "token";
  }
  return "?";
}

std::string_view name_of(ClassifierConfig::Pooling pooling) {
  switch (pooling) {
    case ClassifierConfig::Pooling::first:
      return "first";
    case ClassifierConfig::Pooling::last:
      return "last";
    case ClassifierConfig::Pooling::mean:
      return "mean";
    case ClassifierConfig::Pooling::late:
      return "late";
  }
  return "?";
}

std::string_view name_of(ClassifierConfig::Problem problem) {
  switch (problem) {
    case ClassifierConfig::Problem::unspecified:
      return "unspecified";
    case ClassifierConfig::Problem::single_label:
      return "single_label_classification";
    case ClassifierConfig::Problem::multi_label:
      return "multi_label_classification";
    case ClassifierConfig::Problem::regression:
      return "regression";
  }
  return "?";
}

}  // namespace heed::model

#pragma once

#include <toml++/toml.h>

#include <functional>
#include <string>
#include <vector>

#include "heed/train/config/config.h"

namespace heed::train {

/// A key of the file, bound to a field of a TrainConfig.
struct Field {
  std::string key;  // "model.d_model"
  std::string help;
  std::function<void(const toml::node&)> read;  // throws Error on a value of another type
  std::function<std::string()> print;           // in TOML
};

/// All keys, in the order of the file, bound to `config`.
std::vector<Field> fields(TrainConfig& config);

}  // namespace heed::train

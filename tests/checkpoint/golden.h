#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/io/safetensors.h"
#include "heed/model/families/family.h"

namespace heed::checkpoint {

inline std::filesystem::path golden_folder(const std::string& name) {
  return std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden" / name;
}

/// The largest difference / the largest expected number.
inline double difference(const Tensor& found, const Tensor& expected) {
  if (found.elements() != expected.elements()) return HUGE_VAL;
  double worst = 0, largest = 0;
  for (int64_t i = 0; i < expected.elements(); ++i) {
    const double a = found.data<float>()[i], b = expected.data<float>()[i];
    if (std::isnan(a)) return HUGE_VAL;
    worst = std::max(worst, std::abs(a - b));
    largest = std::max(largest, std::abs(b));
  }
  return largest > 0 ? worst / largest : worst;
}

inline std::vector<int32_t> integers(const Tensor& tensor) {
  const auto values = tensor.values<int32_t>();
  return {values.begin(), values.end()};
}

/// A case name for GoogleTest, which allows no hyphens.
inline std::string case_name(const ::testing::TestParamInfo<const char*>& info) {
  std::string name = info.param;
  for (char& letter : name)
    if (letter == '-' || letter == '.') letter = '_';
  return name;
}

/// The configuration that a family reads from a file.
inline model::ModelConfig config_of(const std::filesystem::path& file) {
  const nlohmann::json json = parse_json(read_file(file), file.string());
  const auto type = get<std::string>(json, "model_type", file.string());
  model::ModelConfig config =
      model::family_of_type(type, file.string()).read_config(json, file.string());
  config.validate();
  return config;
}

}  // namespace heed::checkpoint

#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/utf8.h"

namespace heed::text {

/// The member `key` of a step, a single code point. Throws Error naming `file` on anything else.
inline std::string read_character(const nlohmann::json& step, const char* key,
                                  const std::string& file) {
  auto text = get<std::string>(step, key, file);
  require(!text.empty() && code_point_at(text, 0).length == text.size(),
          "{}: {} is {}, expected one character", file, key, excerpt(step[key]));
  return text;
}

/// The steps of a tokenizer.json's "Sequence", which the list `key` describes, each by `read`.
/// Throws Error naming `file` when the list is missing, and what `read` throws.
template <typename Step>
std::vector<std::unique_ptr<Step>> read_steps(const nlohmann::json& json, const char* key,
                                              const std::string& file,
                                              std::unique_ptr<Step> (*read)(const nlohmann::json&,
                                                                            const std::string&)) {
  const auto found = json.find(key);
  require(found != json.end() && found->is_array(), "{}: {} is missing or not a list", file, key);
  std::vector<std::unique_ptr<Step>> steps;
  for (const auto& step : *found) steps.push_back(read(step, file));
  return steps;
}

}  // namespace heed::text

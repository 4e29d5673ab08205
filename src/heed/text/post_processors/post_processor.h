#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace heed::text {

/// Adds special tokens around the ids of a text by templates, each around the result of the one
/// before.
class PostProcessor {
 public:
  PostProcessor() = default;

  /// What "post_processor" of a tokenizer.json describes; `file` is its name in messages. Throws
  /// Error on an unknown type, and on missing or wrong members.
  static PostProcessor read(const nlohmann::json& json, const std::string& file);
  static PostProcessor around(std::vector<int32_t> before, std::vector<int32_t> after);

  std::vector<int32_t> apply(std::vector<int32_t> ids, bool special) const;

 private:
  /// Part of a template: the text, or special tokens.
  struct Part {
    bool text = false;
    std::vector<int32_t> special;
  };
  using Template = std::vector<Part>;

  static Template read_template(const nlohmann::json& json, const std::string& file);
  void check_growth(const std::string& file) const;
  static void append(const nlohmann::json& json, const std::string& file,
                     std::vector<Template>& templates);

  std::vector<Template> templates_;  // applied in this order
};

}  // namespace heed::text

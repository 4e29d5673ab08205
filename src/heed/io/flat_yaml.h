#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heed::io {

/// A value of FlatYaml: a scalar is a list of one, null has no items.
struct YamlValue {
  std::vector<std::string> items;
  bool is_list = false;
};

/// A YAML file that is a mapping of scalars and of lists of scalars, in blocks or in brackets, as
/// the settings of COMET models and of Marian's are, and Marian's vocabularies. What YAML has
/// beside these, such as tags, anchors and mappings within mappings, is refused by its line.
class FlatYaml {
 public:
  /// Throws Error that names the file and the line.
  explicit FlatYaml(const std::filesystem::path& path);
  /// A text that lies in `file`, which messages name.
  FlatYaml(std::string_view text, std::string file);

  const std::string& file() const { return file_; }
  const std::map<std::string, YamlValue>& values() const { return values_; }

  /// The scalar of a key; none if it is absent or null. Throws Error when it is a list.
  std::optional<std::string> scalar(const std::string& key) const;
  /// The list of a key; none if it is absent. Throws Error when it is a scalar.
  std::optional<std::vector<std::string>> list(const std::string& key) const;

 private:
  void add(std::string_view line, size_t number);
  void add_entry(std::string_view text, size_t number);
  void set(YamlValue& value, std::string_view text, size_t number) const;
  std::string scalar_of(std::string_view text, size_t number) const;

  std::string file_, last_;
  std::map<std::string, YamlValue> values_;
};

}  // namespace heed::io

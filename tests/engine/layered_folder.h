#pragma once

#include <filesystem>
#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heed/base/file.h"
#include "tests/base/testing.h"

namespace heed {

/// The files of several folders of tests/golden in one, later ones in place of earlier ones.
class LayeredFolder : public TemporaryDirectory {
 public:
  LayeredFolder(std::initializer_list<std::string> folders) {
    namespace fs = std::filesystem;
    for (const std::string& folder : folders)
      fs::copy(golden(folder), path(),
               fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  }

  static std::filesystem::path golden(const std::string& folder) {
    return std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden" / folder;
  }
  static nlohmann::json expected(const std::string& folder) {
    return nlohmann::json::parse(read_file(golden(folder) / "expected.json"));
  }

  /// Sets members of a file's object.
  void change(const std::string& file, const nlohmann::json& changes) const {
    auto json = nlohmann::json::parse(read_file(path() / file));
    json.update(changes);
    write_quickly(path() / file, json.dump());
  }
};

/// The texts of the golden folders of encoders.
inline std::vector<std::string> encoder_texts() {
  return LayeredFolder::expected("encoders/embed-bert").at("texts");
}

/// What a call throws; empty if nothing.
template <typename Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

}  // namespace heed

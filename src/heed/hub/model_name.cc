#include "heed/hub/model_name.h"

#include <algorithm>
#include <array>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::hub {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// OWNER or NAME. The cache joins them with "--", so neither may contain that.
bool is_part_of_name(std::string_view part) {
  constexpr size_t kLongest = 96;
  return !part.empty() && part.size() <= kLongest && is_word(part.front()) &&
         is_word(part.back()) && part.find("--") == part.npos && part.find("..") == part.npos &&
         std::ranges::all_of(part, [](char c) { return is_word(c) || c == '-' || c == '.'; });
}

bool is_file_name(std::string_view text) {
  constexpr std::array<std::string_view, 5> kEnds{".gguf", ".json", ".model", ".spm",
                                                  ".safetensors"};
  constexpr std::array<std::string_view, 3> kEndsOfPaths{".bin", ".toml", ".txt"};
  const auto has_end = [&](std::string_view end) { return text.ends_with(end); };
  return std::ranges::any_of(kEnds, has_end) ||
         (!has_owner(text) && std::ranges::any_of(kEndsOfPaths, has_end));
}

}  // namespace

bool is_repository(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos) return is_part_of_name(text);
  return is_part_of_name(text.substr(0, slash)) && is_part_of_name(text.substr(slash + 1));
}

bool has_owner(std::string_view repository) { return repository.find('/') != repository.npos; }

bool is_inner_path(std::string_view path) {
  constexpr size_t kLongest = 1024;
  if (path.size() > kLongest) return false;
  if (!std::ranges::all_of(path, [](char c) { return c > ' ' && c <= '~' && c != '\\'; }))
    return false;
  for (size_t begin = 0;;) {
    const size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == path.size()) return true;
    begin = end + 1;
  }
}

std::optional<ModelName> parse_model_name(std::string_view text) {
  const size_t end = std::min(text.find_first_of("@:"), text.size());
  const std::string_view repository = text.substr(0, end);
  if (!is_repository(repository)) return std::nullopt;
  ModelName name;
  name.repository = repository;
  std::string_view rest = text.substr(end);
  if (rest.empty()) return is_file_name(repository) ? std::nullopt : std::optional(name);
  if (rest.starts_with("://")) return std::nullopt;
  if (rest.front() == '@') {
    const size_t colon = std::min(rest.find(':'), rest.size());
    name.revision = rest.substr(1, colon - 1);
    require(is_inner_path(name.revision),
            "{}: the revision is {}, expected a branch, tag or commit", one_line(text),
            quoted(name.revision));
    rest.remove_prefix(colon);
  }
  if (rest.empty()) return name;
  name.file = rest.substr(1);
  require(is_inner_path(name.file) && name.file.ends_with(".gguf"),
          "{}: the file is {}, expected a .gguf file of the repository", one_line(text),
          quoted(name.file));
  return name;
}

}  // namespace heed::hub

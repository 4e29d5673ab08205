#include "heed/base/error.h"

#include <nlohmann/json.hpp>
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/generate/embedder.h"
#include "heed/io/gguf.h"

namespace heed::generate {
namespace {

using Json = nlohmann::json;

Pooling read_pooling(const std::filesystem::path& path) {
  constexpr std::string_view kMode = "pooling_mode_";
  const std::string file = path.string();
  const Json json = parse_json(read_file(path), file);
  require(json.is_object(), "{}: expected an object, found {}", file, excerpt(json));
  std::vector<std::string> modes;
  for (const auto& [key, value] : json.items())
    if (key.starts_with(kMode) && get<bool>(json, key, file))
      modes.push_back(key.substr(kMode.size()));
  require(modes.size() <= 1, "{}: {} pooling modes are set, expected one", file, modes.size());
  if (modes.empty()) modes.push_back(get_or<std::string>(json, "pooling_mode", "mean", file));
  const std::string& mode = modes.front();
  if (mode == "mean_tokens" || mode == "mean") return Pooling::mean;
  if (mode == "cls_token" || mode == "cls") return Pooling::cls;
  if (mode == "max_tokens" || mode == "max") return Pooling::max;
  if (mode == "lasttoken") return Pooling::last;
  fail("{}: the pooling mode is {}, expected mean_tokens, cls_token, max_tokens or lasttoken", file,
       one_line(mode));
}

/// The folder of a module. Throws Error unless it lies within the model's directory.
std::filesystem::path folder_of(const std::filesystem::path& model_path, const std::string& name,
                                const std::string& file) {
  const std::filesystem::path folder(name);
  bool inside = folder.is_relative();
  for (const std::filesystem::path& part : folder) inside = inside && part != "..";
  require(inside, "{}: the path of a module is {}, expected a path within the model directory",
          file, one_line(name));
  return model_path / folder;
}

/// "pooling_type" of a GGUF file's architecture; mean where it has none.
Pooling read_gguf_pooling(const std::filesystem::path& path) {
  const auto file = io::GgufFile::open(path);
  const auto architecture = file->metadata().get<std::string>("general.architecture");
  const std::string key = architecture + ".pooling_type";
  switch (const auto type = file->metadata().get_or<int64_t>(key, 0)) {
    case 0:  // none
    case 1:
      return Pooling::mean;
    case 2:
      return Pooling::cls;
    case 3:
      return Pooling::last;
    default:
      fail("{}: {} is {}, expected 0 to 3: none, mean, cls or last", path.string(), key, type);
  }
}

}  // namespace

EmbedderOptions read_embedder_options(const std::filesystem::path& model_path) {
  EmbedderOptions options;
  if (path_is_file(model_path)) {
    options.pooling = read_gguf_pooling(model_path);
    return options;
  }
  const std::filesystem::path path = model_path / "modules.json";
  if (!path_exists(path)) return options;
  const std::string file = path.string();
  const Json modules = parse_json(read_file(path), file);
  require(modules.is_array(), "{}: expected a list, found {}", file, excerpt(modules));
  for (const Json& module : modules) {
    const auto type = get<std::string>(module, "type", file);
    if (type.ends_with(".Normalize")) {
      options.normalize = true;
    } else if (type.ends_with(".Pooling")) {
      const auto folder = get<std::string>(module, "path", file);
      options.pooling = read_pooling(folder_of(model_path, folder, file) / "config.json");
    } else {
      require(type.ends_with(".Transformer"),
              "{}: unknown module {}, expected Transformer, Pooling or Normalize", file,
              one_line(type));
    }
  }
  const std::filesystem::path sentence = model_path / "sentence_bert_config.json";
  if (!path_exists(sentence)) return options;
  const Json json = parse_json(read_file(sentence), sentence.string());
  options.max_seq_length = get_or<int64_t>(json, "max_seq_length", 0, sentence.string());
  options.lower_case = get_or(json, "do_lower_case", false, sentence.string());
  return options;
}

}  // namespace heed::generate

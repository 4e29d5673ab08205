#include "heed/chat/template_files.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/io/gguf/metadata.h"

namespace heed::chat {
namespace {

namespace fs = std::filesystem;
using Templates = std::vector<StoredTemplate>;

}  // namespace

Templates read_gguf_chat_templates(const io::GgufMetadata& metadata, const std::string& file) {
  const std::string key = "tokenizer.chat_template";
  Templates templates;
  const auto add = [&](const std::string& name, const std::string& stored) {
    if (!metadata.contains(stored)) return;
    templates.push_back({name, metadata.get<std::string>(stored), file + ": " + stored});
  };
  add("default", key);
  if (metadata.contains(key + "s"))
    for (const std::string& name : metadata.get<std::vector<std::string>>(key + "s"))
      add(name, key + "." + name);
  return templates;
}

namespace {

Templates read_jinja_files(const fs::path& directory) {
  Templates templates;
  const auto add = [&](const std::string& name, const fs::path& file) {
    templates.push_back({name, read_file(file), file.string()});
  };
  const fs::path main = directory / "chat_template.jinja";
  if (path_is_file(main)) add("default", main);
  const fs::path more = directory / "additional_chat_templates";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(more, ignored))
    if (entry.path().extension() == ".jinja") add(entry.path().stem().string(), entry.path());
  std::ranges::sort(templates, {}, &StoredTemplate::name);
  return templates;
}

Templates read_tokenizer_config(const fs::path& path) {
  const std::string file = path.string();
  if (!path_is_file(path)) return {};
  const nlohmann::json config = parse_json(read_file(path), file);
  if (!config.is_object() || !config.contains("chat_template")) return {};
  const nlohmann::json& stored = config["chat_template"];
  if (stored.is_null()) return {};
  const std::string where = file + ": chat_template";
  if (stored.is_string()) return {{"default", stored.get<std::string>(), where}};
  require(stored.is_array(), "{} is {}, expected a string or a list", where, excerpt(stored));
  Templates templates;
  for (const nlohmann::json& named : stored) {
    require(named.is_object(), "{} holds {}, expected objects with name and template", where,
            excerpt(named));
    const auto name = get<std::string>(named, "name", where);
    templates.push_back(
        {name, get<std::string>(named, "template", where), where + " " + one_line(name)});
  }
  return templates;
}

}  // namespace

Templates read_chat_templates(const fs::path& model) {
  if (model.extension() == ".jinja") return {{"default", read_file(model), model.string()}};
  if (model.extension() == ".json") return read_tokenizer_config(model);
  if (path_is_file(model))
    return read_gguf_chat_templates(io::GgufMetadata::open(model), model.string());
  Templates templates = read_jinja_files(model);
  return templates.empty() ? read_tokenizer_config(model / "tokenizer_config.json") : templates;
}

}  // namespace heed::chat

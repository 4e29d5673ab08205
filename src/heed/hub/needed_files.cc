#include "heed/hub/needed_files.h"

#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/hub/model_name.h"

namespace heed::hub {
namespace {

using Json = nlohmann::json;

}  // namespace

std::span<const std::string> settings_files() {
  static const auto kFiles = std::to_array<std::string>(
      {kConfigFile, "generation_config.json", "chat_template.jinja", kModulesFile,
       "sentence_bert_config.json", "sentence_roberta_config.json",
       "sentence_distilbert_config.json", "sentence_camembert_config.json",
       "sentence_albert_config.json", "sentence_xlm-roberta_config.json",
       "sentence_xlnet_config.json", "config_sentence_transformers.json", "tokenizer.json",
       "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json", "vocab.json",
       "target_vocab.json", "merges.txt", "vocab.txt", "tokenizer.model", "spiece.model",
       "sentencepiece.bpe.model", "spm.model", "source.spm", "target.spm",
       // BGE-M3's heads
       "sparse_linear.pt", "colbert_linear.pt",
       // the settings of Stanford's ColBERT
       "artifact.metadata",
       // what heed train adds: how text is cut into sentences, and how sure the model is
       "sentences.json", "confidence.json"});
  return kFiles;
}

std::span<const WeightFiles> weight_formats() {
  static const std::array<WeightFiles, 2> kFormats{
      {{{"model.safetensors", "quantized.safetensors"},
        "model.safetensors.index.json",
        ".safetensors"},
       {{"pytorch_model.bin"}, "pytorch_model.bin.index.json", ".bin"}}};
  return kFormats;
}

std::span<const std::string> adapter_weights() {
  static const std::array<std::string, 2> kFiles{"adapter_model.safetensors", "adapter_model.bin"};
  return kFiles;
}

std::vector<std::string> shards_of(const std::filesystem::path& index, const WeightFiles& format) {
  const std::string file = index.string();
  const Json json = parse_json(read_file(index), file);
  require(json.is_object() && json.contains("weight_map") && json["weight_map"].is_object(),
          "{}: weight_map is missing or not an object", file);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : json["weight_map"].items()) {
    require(shard.is_string(), "{}: the shard of {} is {}, expected a name", file, one_line(tensor),
            excerpt(shard));
    const auto name = shard.get<std::string>();
    require(
        is_inner_path(name) && name.find('/') == name.npos && name.ends_with(format.shard_ending),
        "{}: {} is not the name of a {} file in the same folder", file, quoted(name),
        format.shard_ending);
    shards.insert(name);
  }
  return {shards.begin(), shards.end()};
}

std::vector<std::string> module_files(const std::filesystem::path& modules, bool weights) {
  const std::string file = modules.string();
  const Json json = parse_json(read_file(modules), file);
  require(json.is_array(), "{}: expected a list, found {}", file, excerpt(json));
  std::vector<std::string> files;
  for (const Json& module : json) {
    require(module.is_object(), "{}: a module is {}, expected an object", file, excerpt(module));
    const auto folder = get_or<std::string>(module, "path", "", file);
    if (folder.empty()) continue;
    require(is_inner_path(folder), "{}: the path of a module is {}, expected one in the repository",
            file, quoted(folder));
    files.push_back(folder + "/config.json");
    if (!weights) continue;
    for (const char* const name : {"/model.safetensors", "/pytorch_model.bin"})
      files.push_back(folder + name);
  }
  return files;
}

}  // namespace heed::hub

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/format/safetensors.h"

namespace heed::format {
namespace {

constexpr const char* kWhole = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

/// Several files that together hold the weights, and an index that says which holds what.
class Shards : public TensorSource {
 public:
  Shards(const std::filesystem::path& directory, const nlohmann::json& index)
      : index_((directory / kIndex).string()) {
    require(index.is_object() && index.contains("weight_map") && index["weight_map"].is_object(),
            "{}: weight_map is missing", index_);
    for (const auto& [tensor, file] : index["weight_map"].items()) {
      const auto shard = heed::get<std::string>(index["weight_map"], tensor, index_);
      require(shard.find('/') == std::string::npos && shard != "..",
              "{}: \"{}\" is not a file of this directory", index_, shard);
      require(std::filesystem::exists(directory / shard), "{}: the shard {} is missing", index_,
              (directory / shard).string());
      if (!files_.contains(shard)) files_[shard] = SafetensorsFile::open(directory / shard);
      require(files_[shard]->contains(tensor), "{}: {} should be in {}, but is not", index_, tensor,
              shard);
      places_[tensor] = files_[shard];
    }
  }

  std::string name() const override { return index_; }
  std::vector<std::string> names() const override {
    std::vector<std::string> names;
    for (const auto& [tensor, file] : places_) names.push_back(tensor);
    return names;
  }
  bool contains(const std::string& tensor) const override { return places_.contains(tensor); }
  Tensor get(const std::string& tensor) const override {
    const auto found = places_.find(tensor);
    require(found != places_.end(), "{}: there is no tensor {}", index_, tensor);
    return found->second->get(tensor);
  }

 private:
  std::string index_;
  std::map<std::string, std::shared_ptr<const SafetensorsFile>> files_, places_;
};

}  // namespace

std::shared_ptr<const TensorSource> open_model_tensors(const std::filesystem::path& directory) {
  if (std::filesystem::exists(directory / kWhole)) return SafetensorsFile::open(directory / kWhole);
  const std::filesystem::path index = directory / kIndex;
  require(std::filesystem::exists(index), "{} has neither {} nor {}", directory.string(), kWhole,
          kIndex);
  return std::make_shared<Shards>(directory, parse_json(read_file(index), index.string()));
}

}  // namespace heed::format

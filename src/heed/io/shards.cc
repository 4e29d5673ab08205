#include <map>
#include <nlohmann/json.hpp>
#include <ranges>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/io/safetensors.h"

namespace heed::io {
namespace {

constexpr const char* kSingleFile = "model.safetensors";
constexpr const char* kIndex = "model.safetensors.index.json";

/// Weights in several files, with an index that maps each tensor to its file.
class Shards : public TensorSource {
 public:
  Shards(const std::filesystem::path& directory, const nlohmann::json& index)
      : index_((directory / kIndex).string()) {
    require(index.is_object() && index.contains("weight_map") && index["weight_map"].is_object(),
            "{}: weight_map is missing or not an object", index_);
    const nlohmann::json& map = index["weight_map"];
    for (const auto& [tensor, unused] : map.items()) {
      const auto shard = heed::get<std::string>(map, tensor, index_);
      if (!files_.contains(shard)) files_[shard] = open_shard(directory, shard);
      require(files_[shard]->contains(tensor), "{}: {} should be in {}, but is not", index_,
              one_line(tensor), one_line(shard));
      file_of_[tensor] = files_[shard];
    }
  }

  std::string name() const override { return index_; }
  std::vector<std::string> names() const override {
    const auto keys = std::views::keys(file_of_);
    return {keys.begin(), keys.end()};
  }
  bool contains(const std::string& tensor) const override { return file_of_.contains(tensor); }
  Tensor get(const std::string& tensor) const override { return file(tensor).get(tensor); }
  Bytes get_bytes(const std::string& tensor) const override {
    return file(tensor).get_bytes(tensor);
  }
  void release(const std::string& tensor) const override { file(tensor).release(tensor); }

 private:
  const SafetensorsFile& file(const std::string& tensor) const {
    const auto found = file_of_.find(tensor);
    require(found != file_of_.end(), "{}: there is no tensor {}", index_, one_line(tensor));
    return *found->second;
  }

  std::shared_ptr<const SafetensorsFile> open_shard(const std::filesystem::path& directory,
                                                    const std::string& shard) const {
    require(std::filesystem::path(shard).filename() == shard && shard != "..",
            "{}: {} is not the name of a file in the same directory", index_, quoted(shard));
    require(path_exists(directory / shard), "{}: the shard {} is missing", index_, one_line(shard));
    return SafetensorsFile::open(directory / shard);
  }

  std::string index_;
  std::map<std::string, std::shared_ptr<const SafetensorsFile>> files_;    // by file name
  std::map<std::string, std::shared_ptr<const SafetensorsFile>> file_of_;  // by tensor name
};

}  // namespace

bool has_model_tensors(const std::filesystem::path& directory) {
  return path_exists(directory / kSingleFile) || path_exists(directory / kIndex);
}

std::shared_ptr<const TensorSource> open_model_tensors(const std::filesystem::path& directory) {
  if (path_exists(directory / kSingleFile)) return SafetensorsFile::open(directory / kSingleFile);
  const std::filesystem::path index = directory / kIndex;
  require(path_exists(index), "{} has neither {} nor {}", directory.string(), kSingleFile, kIndex);
  return std::make_shared<Shards>(directory, parse_json(read_file(index), index.string()));
}

}  // namespace heed::io

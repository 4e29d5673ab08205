#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <ranges>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/io/pytorch/pytorch_file.h"
#include "heed/io/safetensors.h"

namespace heed::io {
namespace {

std::shared_ptr<const TensorSource> open_safetensors(const std::filesystem::path& path) {
  return SafetensorsFile::open(path);
}
std::shared_ptr<const TensorSource> open_pytorch(const std::filesystem::path& path) {
  return PyTorchFile::open(path);
}

/// A format of weights in a model directory.
struct WeightFormat {
  const char *whole, *index;  // the file of all weights; the one that names several
  std::shared_ptr<const TensorSource> (*open)(const std::filesystem::path& path);
};
/// The first that a directory has is read.
constexpr std::array<WeightFormat, 2> kFormats{
    {{"model.safetensors", "model.safetensors.index.json", open_safetensors},
     {"pytorch_model.bin", "pytorch_model.bin.index.json", open_pytorch}}};

/// Weights in several files, with an index that maps each tensor to its file.
class Shards : public TensorSource {
 public:
  Shards(const std::filesystem::path& directory, const WeightFormat& format)
      : index_((directory / format.index).string()) {
    const nlohmann::json index = parse_json(read_file(index_), index_);
    require(index.is_object() && index.contains("weight_map") && index["weight_map"].is_object(),
            "{}: weight_map is missing or not an object", index_);
    const nlohmann::json& map = index["weight_map"];
    for (const auto& [tensor, unused] : map.items()) {
      const auto shard = heed::get<std::string>(map, tensor, index_);
      if (!files_.contains(shard)) files_[shard] = open_shard(directory, shard, format);
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
  DType dtype(const std::string& tensor) const override { return file(tensor).dtype(tensor); }
  void release(const std::string& tensor) const override { file(tensor).release(tensor); }

 private:
  const TensorSource& file(const std::string& tensor) const {
    const auto found = file_of_.find(tensor);
    require(found != file_of_.end(), "{}: there is no tensor {}", index_, one_line(tensor));
    return *found->second;
  }

  std::shared_ptr<const TensorSource> open_shard(const std::filesystem::path& directory,
                                                 const std::string& shard,
                                                 const WeightFormat& format) const {
    require(std::filesystem::path(shard).filename() == shard && shard != "..",
            "{}: {} is not the name of a file in the same directory", index_, quoted(shard));
    require(path_exists(directory / shard), "{}: the shard {} is missing", index_, one_line(shard));
    return format.open(directory / shard);
  }

  std::string index_;
  std::map<std::string, std::shared_ptr<const TensorSource>> files_;    // by file name
  std::map<std::string, std::shared_ptr<const TensorSource>> file_of_;  // by tensor name
};

}  // namespace

bool has_model_tensors(const std::filesystem::path& directory) {
  return std::ranges::any_of(kFormats, [&](const WeightFormat& format) {
    return path_exists(directory / format.whole) || path_exists(directory / format.index);
  });
}

std::shared_ptr<const TensorSource> open_model_tensors(const std::filesystem::path& directory) {
  for (const WeightFormat& format : kFormats) {
    if (path_exists(directory / format.whole)) return format.open(directory / format.whole);
    if (path_exists(directory / format.index)) return std::make_shared<Shards>(directory, format);
  }
  const auto& [safetensors, pytorch] = kFormats;
  fail("{} has neither {} nor {}, nor {} or its index", directory.string(), safetensors.whole,
       safetensors.index, pytorch.whole);
}

}  // namespace heed::io

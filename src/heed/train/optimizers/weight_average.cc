#include "heed/train/optimizers/weight_average.h"

#include "heed/base/error.h"
#include "heed/kernels/as_f32.h"
#include "heed/kernels/elementwise.h"
#include "heed/train.h"

namespace heed::train {

std::vector<io::NamedTensor> average_weights(const std::vector<std::filesystem::path>& files) {
  require(!files.empty(), "there are no checkpoints to average");
  std::vector<io::NamedTensor> mean;
  for (const std::filesystem::path& path : files) {
    const auto file = io::SafetensorsFile::open(path);
    const std::vector<std::string> names = file->names();
    if (mean.empty())
      for (const std::string& name : names)
        mean.push_back({name, Tensor::zeros(file->get(name).shape())});
    require(names.size() == mean.size(), "{} has {} tensors, {} has {}", path.string(),
            names.size(), files.front().string(), mean.size());
    for (io::NamedTensor& sum : mean) {
      const Tensor weight = file->get(sum.name);
      require(weight.shape() == sum.tensor.shape(), "{}: {} is {}, in {} it is {}", path.string(),
              sum.name, weight.shape().text(), files.front().string(), sum.tensor.shape().text());
      kernels::add_to(kernels::as_f32(weight), sum.tensor);
      file->release(sum.name);
    }
  }
  for (io::NamedTensor& sum : mean)
    kernels::scale(1.0f / static_cast<float>(files.size()), sum.tensor);
  return mean;
}

}  // namespace heed::train

namespace heed {

void average_weights(const std::vector<std::filesystem::path>& files,
                     const std::filesystem::path& out) {
  io::write_safetensors(out, train::average_weights(files), {{"format", "pt"}});
}

}  // namespace heed

#include "heed/checkpoint/mxfp4_experts.h"

#include <algorithm>
#include <map>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/quote.h"
#include "heed/tensor/blocks_of_32.h"

namespace heed::checkpoint {
namespace {

constexpr std::string_view kBlocks = "_blocks", kScales = "_scales", kExperts = ".experts.";
constexpr size_t kBytes = 16;  // of a block's elements

/// The file has element i in the low (even i) or high half of byte i / 2, heed and GGUF have it in
/// the low (i < 16) or high half of byte i % 16.
BlockMXFP4 block_of(std::byte exponent, const std::byte* elements) {
  const auto element = [&](size_t i) {
    return std::to_integer<uint8_t>(elements[i / 2]) >> (i % 2 * 4) & 15;
  };
  BlockMXFP4 block{.exponent = std::to_integer<uint8_t>(exponent), .quants = {}};
  for (size_t i = 0; i < kBytes; ++i)
    block.quants[i] = static_cast<uint8_t>(element(i) | element(i + kBytes) << 4);
  return block;
}

class Mxfp4Experts : public io::TensorSource {
 public:
  explicit Mxfp4Experts(std::shared_ptr<const io::TensorSource> tensors)
      : tensors_(std::move(tensors)) {
    for (const std::string& own : tensors_->names()) {
      if (own.ends_with(kBlocks))
        add_experts(own.substr(0, own.size() - kBlocks.size()));
      else if (!own.ends_with(kScales))
        others_.push_back(own);
    }
  }

  std::string name() const override { return tensors_->name(); }
  std::vector<std::string> names() const override {
    std::vector<std::string> names = others_;
    for (const auto& [own, expert] : experts_) names.push_back(own);
    std::sort(names.begin(), names.end());
    return names;
  }
  bool contains(const std::string& own) const override {
    return experts_.contains(own) || tensors_->contains(own);
  }

  Tensor get(const std::string& own) const override {
    const auto found = experts_.find(own);
    if (found == experts_.end()) return tensors_->get(own);
    const auto& [all, number] = found->second;
    const Bytes blocks = tensors_->get_bytes(all + std::string(kBlocks));
    const Bytes scales = tensors_->get_bytes(all + std::string(kScales));
    const int64_t rows = blocks.shape[1], in_row = blocks.shape[2];
    Tensor result = Tensor::empty({rows, in_row * BlockMXFP4::kElements}, DType::mxfp4);
    BlockMXFP4* const to = result.data<BlockMXFP4>();
    const auto first = static_cast<size_t>(number * rows * in_row);
    constexpr int64_t kGrain = 1024;
    parallel_for(rows * in_row, kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const size_t block = first + static_cast<size_t>(i);
        to[i] = block_of(scales.bytes[block], blocks.bytes.data() + block * kBytes);
      }
    });
    return result;
  }

  DType dtype(const std::string& own) const override {
    return experts_.contains(own) ? DType::mxfp4 : tensors_->dtype(own);
  }

  void release(const std::string& own) const override {
    const auto found = experts_.find(own);
    if (found == experts_.end()) return tensors_->release(own);
    tensors_->release(found->second.all + std::string(kBlocks));
  }

 private:
  /// Where an expert's tensor is: part `number` of the tensors `all`_blocks and `all`_scales.
  struct Expert {
    std::string all;
    int64_t number;
  };

  void add_experts(const std::string& all) {
    const std::string blocks_name = all + std::string(kBlocks);
    const std::string scales_name = all + std::string(kScales);
    require(tensors_->contains(scales_name), "{}: {} is missing, expected beside {}", name(),
            one_line(scales_name), one_line(blocks_name));
    const Shape blocks = tensors_->get_bytes(blocks_name).shape;
    const Shape scales = tensors_->get_bytes(scales_name).shape;
    const bool fit = blocks.rank() == 4 && blocks.elements() > 0 &&
                     blocks[3] == static_cast<int64_t>(kBytes) &&
                     scales == Shape{blocks[0], blocks[1], blocks[2]};
    require(fit, "{}: {} is {} and {} is {}, expected [E, N, K, 16] and [E, N, K]", name(),
            one_line(blocks_name), blocks.text(), one_line(scales_name), scales.text());
    const size_t place = all.rfind(kExperts);
    require(place != std::string::npos, "{}: {} is not a weight of experts", name(),
            one_line(blocks_name));
    const size_t end = place + kExperts.size();
    for (int64_t number = 0; number < blocks[0]; ++number)
      experts_[fmt::format("{}{}.{}", all.substr(0, end), number, all.substr(end))] = {all, number};
  }

  std::shared_ptr<const io::TensorSource> tensors_;
  std::vector<std::string> others_;
  std::map<std::string, Expert> experts_;
};

}  // namespace

std::shared_ptr<const io::TensorSource> mxfp4_experts(
    std::shared_ptr<const io::TensorSource> tensors) {
  return std::make_shared<Mxfp4Experts>(std::move(tensors));
}

}  // namespace heed::checkpoint

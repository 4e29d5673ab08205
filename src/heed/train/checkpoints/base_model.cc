#include "heed/train/checkpoints/base_model.h"

#include <algorithm>
#include <vector>

#include "heed/base/error.h"
#include "heed/base/parallel.h"

namespace heed::train {
namespace {

constexpr int64_t kBlockBytes = int64_t{1} << 20;

std::vector<std::string_view> blocks_of(const std::vector<const Parameter*>& parameters) {
  std::vector<std::string_view> blocks;
  for (const Parameter* const parameter : parameters) {
    const auto* bytes = reinterpret_cast<const char*>(parameter->value.raw());
    for (int64_t begin = 0; begin < parameter->value.bytes(); begin += kBlockBytes) {
      const int64_t size = std::min(kBlockBytes, parameter->value.bytes() - begin);
      blocks.emplace_back(bytes + begin, static_cast<size_t>(size));
    }
  }
  return blocks;
}

}  // namespace

data::Fingerprint fingerprint_of(const model::Transformer& base) {
  std::vector<const Parameter*> present;
  for (const Parameter& parameter : base.parameters().all())
    if (parameter.present()) present.push_back(&parameter);
  const std::vector<std::string_view> blocks = blocks_of(present);
  std::vector<uint64_t> hashes(blocks.size());
  parallel_for(static_cast<int64_t>(blocks.size()), 1, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i)
      hashes[i] = data::hash_after(0, blocks[i]);
  });
  data::Fingerprint result{.count = static_cast<int64_t>(present.size())};
  for (const Parameter* const parameter : present)
    result.hash = data::hash_after(
        result.hash, fmt::format("{} {} {}", parameter->name, name_of(parameter->value.dtype()),
                                 parameter->value.shape().text()));
  result.hash = data::hash_after(result.hash, {reinterpret_cast<const char*>(hashes.data()),
                                               hashes.size() * sizeof(hashes[0])});
  return result;
}

void require_same_base(const data::Fingerprint& began, const data::Fingerprint& now,
                       const std::string& path) {
  require(began == now,
          "{}: the base model has changed since the run began: {} parameters then, {} now{}; the "
          "adapter fits only the model that it was trained for",
          path, began.count, now.count,
          began.count == now.count ? " with other types or values" : "");
}

}  // namespace heed::train

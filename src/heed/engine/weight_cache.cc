#include "heed/engine/weight_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <span>
#include <thread>

#include "heed/base/error.h"
#include "heed/base/file_lock.h"
#include "heed/base/hash.h"
#include "heed/base/interrupt.h"
#include "heed/base/names.h"
#include "heed/base/rounding.h"
#include "heed/nn/tensor_parallel.h"
#include "heed/tensor/allocator.h"

namespace heed::engine {
namespace {

namespace fs = std::filesystem;

constexpr size_t kAlignment = 64;

/// Differs for models, types of weights and arithmetic, so that these do not replace each other.
std::string file_name(const fs::path& path, const LoadOptions& options) {
  std::error_code ignored;  // loading reports a path that is wrong
  const fs::path model = fs::weakly_canonical(path, ignored);
  std::string identity = model.string();
  if (options.weights) identity += fmt::format("\nweights {}", name_of(*options.weights));
  if (options.compute) identity += fmt::format("\ncompute {}", name_of(*options.compute));
  if (options.random_weights) identity += fmt::format("\nseed {}", *options.random_weights);
  if (options.parts)
    identity += fmt::format("\npart {} of {}", options.parts->rank(), options.parts->world_size());
  return fmt::format("{}-{:016x}.packed", model.filename().string(), hash_after(0, identity));
}

}  // namespace

WeightCache::WeightCache(const fs::path& path, const LoadOptions& options)
    : file_(options.weight_cache / file_name(path, options)) {
  map();
}

bool WeightCache::map() {
  mapped_ = nullptr;
  // Asked first: another process may make the file at any time, and nobody removes it but a user.
  if (!path_exists(file_)) return false;
  try {
    mapped_ = MappedFile::open(file_);
  } catch (const Error&) {
    if (path_exists(file_)) throw;
  }
  return mapped_ != nullptr;
}

bool WeightCache::try_lock() {
  lock_ = try_lock_file(file_.string() + ".lock");
  if (lock_) return true;
  check_interrupted();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  return false;
}

/// Waits until there is a file, which is then mapped, or until this process is the one to make it.
void WeightCache::await_file() {
  make_directory(file_.parent_path());
  while (!map() && !try_lock()) continue;
  if (lock_ && map()) lock_.reset();  // it was made before the lock was granted
}

void WeightCache::add(PackedWeight& weight) {
  if (weight.layout_bytes().empty() || std::ranges::find(weights_, &weight) != weights_.end())
    return;
  if (weights_.empty() && !mapped_) await_file();
  weights_.push_back(&weight);
  if (!read(weight)) complete_ = false;
}

bool WeightCache::read(PackedWeight& weight) {
  const std::span<const std::byte> own = weight.layout_bytes();
  const size_t begin = round_up(end_, kAlignment);
  end_ = begin + own.size();
  if (!mapped_ || end_ > mapped_->bytes().size()) return false;
  std::byte* const there = mapped_->bytes().data() + begin;
  if (std::memcmp(there, own.data(), own.size()) != 0) return false;
  weight.read_from({mapped_, there});
  return true;
}

bool WeightCache::read_all() {
  end_ = 0;
  size_t count = 0;
  for (PackedWeight* const weight : weights_) {
    check_interrupted();
    if (read(*weight)) ++count;
  }
  return count == weights_.size();
}

void WeightCache::finish() {
  if (!complete_) complete();
  release_free_memory();  // in which the weights were packed
}

void WeightCache::complete() {
  make_directory(file_.parent_path());
  while (!lock_) try_lock();
  // Another process may have made the file since this one mapped it.
  if (!map() || !read_all()) {
    write();
    map();
    read_all();
  }
  lock_.reset();
}

void WeightCache::write() const {
  for (const fs::directory_entry& entry : fs::directory_iterator(file_.parent_path()))
    if (entry.path().native().starts_with(file_.native()) && is_left_temporary(entry.path()))
      remove_tree(entry.path());
  AtomicFile file(file_);
  constexpr std::array<std::byte, kAlignment> kGap{};
  size_t end = 0;
  for (const PackedWeight* const weight : weights_) {
    check_interrupted();
    const size_t begin = round_up(end, kAlignment);
    file.write(std::span(kGap).first(begin - end));
    file.write(weight->layout_bytes());
    end = begin + weight->layout_bytes().size();
  }
  file.commit(AtomicFile::Durability::none);
}

}  // namespace heed::engine

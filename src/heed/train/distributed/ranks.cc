#include "heed/train/distributed/ranks.h"

#include "heed/base/error.h"
#include "heed/data/fingerprint.h"
#include "heed/distribute/join.h"

namespace heed::train {
namespace {

uint64_t hash_of(const data::Fingerprint& text) {
  return text.hash + static_cast<uint64_t>(text.count);
}

uint64_t hash_of_files(const Task& task) {
  uint64_t hash = 0;
  for (const auto& [name, content] : task.files())
    hash = data::hash_after(data::hash_after(hash, name), content);
  return hash;
}

}  // namespace

std::shared_ptr<distribute::Group> join_ranks(const TrainOptions& options,
                                              std::function<bool()> stop_requested) {
  if (!options.distributed) return std::make_shared<distribute::Group>();
  auto group = distribute::join_launched_ranks(std::move(stop_requested));
  // A rank that failed before it joined reports that here.
  distribute::require_no_error(*group, "");
  return group;
}

void require_same_inputs(const TrainConfig& config, const Task& task, distribute::Group& group) {
  if (group.alone()) return;
  distribute::require_same(group, "another build of heed", distribute::hash_of_build());
  distribute::require_same(group, "another configuration", data::hash_after(0, write_toml(config)));
  distribute::require_same(group, "another training text", hash_of(task.fingerprint().training));
  distribute::require_same(group, "another validation text",
                           hash_of(task.fingerprint().validation));
  distribute::require_same(group, "another vocabulary", hash_of_files(task));
}

}  // namespace heed::train

#include "heed/train/ranks.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/data/fingerprint.h"
#include "heed/distribute/mpi_transport.h"

namespace heed::train {
namespace {

/// A hash of the file that holds this code: the program, or a library.
uint64_t hash_of_build() {
  Dl_info code{}, program{};
  if (::dladdr(reinterpret_cast<void*>(&require_same_inputs), &code) == 0) return 0;
  // dladdr knows the program by the name it was called by, which is no path if PATH led to it.
  ::dladdr(reinterpret_cast<void*>(::getauxval(AT_PHDR)), &program);
  return data::hash_after(
      0, read_file(code.dli_fbase == program.dli_fbase ? "/proc/self/exe" : code.dli_fname));
}

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
  if (options.distributed)
    if (const auto library = distribute::mpi_of_launcher())
      return std::make_shared<distribute::Group>(
          [&library] { return distribute::mpi_transport(*library); }, distribute::Deadlines{},
          std::move(stop_requested));
  return std::make_shared<distribute::Group>();
}

void require_same_inputs(const TrainConfig& config, const Task& task, distribute::Group& group) {
  if (group.alone()) return;
  distribute::require_same(group, "another build of heed", hash_of_build());
  distribute::require_same(group, "another configuration", data::hash_after(0, write_toml(config)));
  distribute::require_same(group, "another training text", hash_of(task.fingerprint().training));
  distribute::require_same(group, "another validation text",
                           hash_of(task.fingerprint().validation));
  distribute::require_same(group, "another vocabulary", hash_of_files(task));
}

}  // namespace heed::train

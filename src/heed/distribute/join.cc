#include "heed/distribute/join.h"

#include <dlfcn.h>
#include <sys/auxv.h>

#include "heed/base/file.h"
#include "heed/base/hash.h"
#include "heed/distribute/agree.h"
#include "heed/distribute/mpi_transport.h"

namespace heed::distribute {

std::shared_ptr<Group> join_launched_ranks(std::function<bool()> stop_requested,
                                           Deadlines deadlines) {
  const auto library = mpi_of_launcher();
  try {
    return library ? std::make_shared<Group>([&library] { return mpi_transport(*library); },
                                             deadlines, std::move(stop_requested))
                   : std::make_shared<Group>();
  } catch (const RankMissing&) {
    throw;
  } catch (const ReportedElsewhere&) {
    throw;
  } catch (const Error&) {
    // What keeps a rank from joining, such as a missing plug-in, mostly keeps all: rank 0 reports
    // it, and with it the launcher ends the others. One that is not ended is the only one.
    if (library->rank > 0) wait_for_report();
    throw;
  }
}

uint64_t hash_of_build() {
  Dl_info code{}, program{};
  if (::dladdr(reinterpret_cast<void*>(&hash_of_build), &code) == 0) return 0;
  // dladdr knows the program by the name it was called by, which is no path if PATH led to it.
  ::dladdr(reinterpret_cast<void*>(::getauxval(AT_PHDR)), &program);
  return hash_after(
      0, read_file(code.dli_fbase == program.dli_fbase ? "/proc/self/exe" : code.dli_fname));
}

}  // namespace heed::distribute

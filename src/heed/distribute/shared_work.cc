#include "heed/distribute/shared_work.h"

#include "heed/distribute/work_helper.h"
#include "heed/distribute/work_root.h"

namespace heed::distribute {

void share_work(Group& group, uint64_t fingerprint, const WorkSource& source,
                const Compute& compute) {
  require(!group.alone(), "work is shared among several ranks, and there is one");
  if (group.is_root())
    WorkRoot(group, fingerprint, source, compute).run();
  else
    WorkHelper(group).run(fingerprint, compute);
}

void end_work(Group& group) {
  if (!group.alone()) WorkRoot(group, 0, {}, {}).end_early();
}

void report_to_root(Group& group, const std::string& error) {
  WorkHelper(group).fail_with(error);
  throw ReportedElsewhere(error);
}

}  // namespace heed::distribute

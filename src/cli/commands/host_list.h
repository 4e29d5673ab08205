#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heed::cli {

/// A host on which ranks are started.
struct Host {
  std::string name;
  int64_t slots = 1;  // how many ranks it takes
};

/// Reads "a,b:2,c". Throws UsageError.
std::vector<Host> read_hosts(const std::string& list);
/// The list as launchers of MPI take it: "a,b:2,c".
std::string list_of(const std::vector<Host>& hosts);
/// The largest power of two of ranks that the hosts take, at most `leaves`: all of them train the
/// same bits.
int64_t ranks_on(const std::vector<Host>& hosts, int64_t leaves);

}  // namespace heed::cli

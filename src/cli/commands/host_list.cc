#include "cli/commands/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "cli/options/options.h"
#include "heed/base/parse_number.h"
#include "heed/base/quote.h"

namespace heed::cli {
namespace {

constexpr int64_t kMaxSlots = 4096;

Host read_host(const std::string& text) {
  const size_t colon = text.rfind(':');
  Host host{.name = text.substr(0, colon)};
  if (colon != text.npos)
    host.slots = parse_number<int64_t>(std::string_view(text).substr(colon + 1)).value_or(0);
  if (host.name.empty() || host.slots < 1 || host.slots > kMaxSlots)
    throw UsageError(fmt::format("{} is no host, expected NAME or NAME:RANKS with up to {} ranks",
                                 quoted(text), kMaxSlots));
  return host;
}

}  // namespace

std::vector<Host> read_hosts(const std::string& list) {
  std::vector<Host> hosts;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    hosts.push_back(read_host(list.substr(begin, end - begin)));
    begin = end + 1;
  }
  return hosts;
}

std::string list_of(const std::vector<Host>& hosts) {
  std::string list;
  for (const Host& host : hosts) {
    list += (list.empty() ? "" : ",") + host.name;
    if (host.slots != 1) list += fmt::format(":{}", host.slots);
  }
  return list;
}

int64_t ranks_on(const std::vector<Host>& hosts, int64_t leaves) {
  int64_t slots = 0;
  for (const Host& host : hosts) slots += host.slots;
  return static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(std::min(slots, leaves))));
}

}  // namespace heed::cli

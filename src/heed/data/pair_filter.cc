#include "heed/data/pair_filter.h"

#include <fmt/format.h>

#include <algorithm>

namespace heed::data {
namespace {

bool keep(const Example& example, const FilterOptions& options, FilterReport& report) {
  const auto [shorter, longer] = std::minmax(
      {static_cast<int64_t>(example.source.size()), static_cast<int64_t>(example.target.size())});
  int64_t& count = shorter <= 1                  ? report.empty
                   : longer > options.max_tokens ? report.too_long
                   : static_cast<double>(longer - options.slack) >
                           options.max_ratio * static_cast<double>(shorter)
                       ? report.unbalanced
                       : report.kept;
  ++count;
  return &count == &report.kept;
}

}  // namespace

std::string FilterReport::text() const {
  std::string line = fmt::format("{} of {} pairs kept", kept, total());
  if (kept < total())
    line += fmt::format("; dropped: {} empty, {} too long, {} by length ratio", empty, too_long,
                        unbalanced);
  return line;
}

FilterReport filter_examples(std::vector<Example>& examples, const FilterOptions& options) {
  FilterReport report;
  std::erase_if(examples, [&](const Example& example) { return !keep(example, options, report); });
  return report;
}

}  // namespace heed::data

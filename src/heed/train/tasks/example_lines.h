#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heed/base/error.h"
#include "heed/data/documents.h"
#include "heed/train/checkpoints/training_state.h"
#include "heed/train/config/config.h"
#include "heed/train/observer.h"
#include "heed/train/tasks/hold_out.h"

namespace heed::train {

template <typename Example>
struct Examples {
  std::vector<Example> train, valid;
  DataFingerprint fingerprint;
};

/// The examples of a file, one per line. `read(line, where)` makes one; `tokens(example)` is its
/// length. Those longer than a window are left out, which is logged; `what` names an example.
template <typename Read, typename Tokens>
auto examples_of(const std::vector<std::string>& lines, const std::string& file, int64_t longest,
                 std::string_view what, Observer& observer, const Read& read,
                 const Tokens& tokens) {
  std::vector<decltype(read(file, file))> examples;
  size_t number = 0, dropped = 0;
  for (const std::string& line : lines) {
    auto example = read(line, fmt::format("{}, line {}", file, ++number));
    if (static_cast<int64_t>(tokens(example)) <= longest)
      examples.push_back(std::move(example));
    else
      ++dropped;
  }
  if (dropped > 0)
    observer.log(fmt::format("{}: {} of {} {}s have more than {} tokens and are left out", file,
                             dropped, number, what, longest));
  return examples;
}

/// The examples of data.text, and those of data.valid_text or held out of the former. Throws Error
/// as `read` does and when there are none.
template <typename Read, typename Tokens>
auto read_examples(const TrainConfig& config, std::string_view what, Observer& observer,
                   const Read& read, const Tokens& tokens) {
  const auto lines_of = [](const std::string& file) {
    return file.empty() ? std::vector<std::string>()
                        : data::read_documents(file, data::DocumentEnd::line);
  };
  const std::vector<std::string> training = lines_of(config.data.text),
                                 validation = lines_of(config.data.valid_text);
  const int64_t longest = config.window_tokens();
  const auto encode = [&](const std::vector<std::string>& lines, const std::string& file) {
    return examples_of(lines, file, longest, what, observer, read, tokens);
  };
  Examples<decltype(read(config.from, config.from))> examples;
  examples.train = encode(training, config.data.text);
  examples.valid = validation.empty()
                       ? hold_out(examples.train, config.data.held_out, config.run.seed, what)
                       : encode(validation, config.data.valid_text);
  examples.fingerprint = {data::fingerprint_of(training), data::fingerprint_of(validation)};
  require(!examples.train.empty() && !examples.valid.empty(), "{}: no {} fits into {} tokens",
          examples.train.empty() ? config.data.text : config.data.valid_text, what, longest);
  observer.log(fmt::format("{} {}s for training, {} for validation", examples.train.size(), what,
                           examples.valid.size()));
  return examples;
}

/// The first examples, at most `count`.
template <typename Example>
std::vector<Example> first_of(const std::vector<Example>& examples, int64_t count) {
  return {examples.begin(), examples.begin() + std::min<int64_t>(count, std::ssize(examples))};
}

}  // namespace heed::train

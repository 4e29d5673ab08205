#pragma once

#include <cstdint>

#include "cli/options/options.h"
#include "heed/base/parallel.h"

namespace heed::cli {

/// Options of most subcommands.
struct CommonOptions {
  int threads = 0;  // 0: all processors
  uint64_t seed = 1;
};

/// Adds --threads, under the general heading.
void add_threads_option(Command& command, CommonOptions& options);
/// Adds --seed.
Option add_seed_option(Command& command, CommonOptions& options);

/// The threads of --threads. Commands make one before their work, and compute on it while it
/// exists.
class Threads {
 public:
  explicit Threads(const CommonOptions& options)
      : executor_(std::make_shared<Executor>(options.threads)) {}

  const std::shared_ptr<Executor>& executor() const { return executor_; }

 private:
  const std::shared_ptr<Executor> executor_;
  const ExecutorScope scope_{*executor_};
};

/// Each adds one subcommand to the program and is defined in the file named after it.
void add_attend(Command& program);
void add_average(Command& program);
void add_convert(Command& program);
void add_distill(Command& program);
void add_merge(Command& program);
void add_shortlist(Command& program);
void add_bench(Command& program);
void add_chat(Command& program);
void add_classify(Command& program);
void add_completion(Command& program);
void add_detect(Command& program);
void add_embed(Command& program);
void add_evaluate(Command& program);
void add_fill(Command& program);
void add_generate(Command& program);
void add_help(Command& program);
void add_info(Command& program);
void add_launch(Command& program);
void add_logits(Command& program);
void add_manual(Command& program);
void add_quantize(Command& program);
void add_rerank(Command& program);
void add_score(Command& program);
void add_check_schema(Command& program);
void add_serve(Command& program);
void add_tokenizer(Command& program);
void add_train(Command& program);
void add_translate(Command& program);

}  // namespace heed::cli

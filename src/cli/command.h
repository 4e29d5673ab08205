#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

namespace heed::cli {

/// Options of every subcommand.
struct CommonOptions {
  int threads = 0;  // 0: all processors
  uint64_t seed = 1;
};

/// Adds --threads and --seed.
void add_common_options(CLI::App& app, CommonOptions& options);
/// Puts the options into effect; to be called before a command does its work.
void apply(const CommonOptions& options);

/// Sets what `heed NAME` does. The function returns the exit status.
void set_action(CLI::App& app, std::function<int()> action);
/// The exit status of the action that ran.
int status();

/// Each adds the subcommand of its name to the program and stands in the file of that name.
void add_attend(CLI::App& program);
void add_average(CLI::App& program);
void add_bench(CLI::App& program);
void add_embed(CLI::App& program);
void add_evaluate(CLI::App& program);
void add_fill(CLI::App& program);
void add_generate(CLI::App& program);
void add_info(CLI::App& program);
void add_logits(CLI::App& program);
void add_quantize(CLI::App& program);
void add_score(CLI::App& program);
void add_tokenizer(CLI::App& program);
void add_train(CLI::App& program);
void add_translate(CLI::App& program);

}  // namespace heed::cli

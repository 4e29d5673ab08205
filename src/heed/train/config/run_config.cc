#include "heed/train/config/run_config.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/distribute/agree.h"
#include "heed/distribute/nccl_transport.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "heed/train/tasks/task.h"

namespace heed::train {
namespace {

namespace fs = std::filesystem;

fs::path absolute_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

/// Overrides a configuration by what the options set. A model of the hub becomes its directory,
/// which the configuration of a run keeps.
void apply(TrainConfig& config, const TrainOptions& options) {
  const std::string before = config.from;
  if (!options.config.empty()) read_toml(config, options.config, options.config_name);
  const std::string in_file = config.from;
  for (const std::string& assignment : options.assignments) set_field(config, assignment);
  if (config.from == before) return;
  const fs::path found = resolve_model(config.from, options.hub);
  const bool assigned = config.from != in_file;
  config.from = (assigned || found != config.from ? absolute_path(found) : found).string();
}

int64_t count_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), "{}: cannot be opened", path);
  return std::count(std::istreambuf_iterator<char>(file), {}, '\n');
}

/// The preset for translation by the amount of parallel text. A configuration of its own decides
/// what matters by itself.
std::string preset_for_size(const TrainOptions& options, const DataConfig& data,
                            Observer& observer) {
  if (!options.config.empty()) return "small";
  int64_t lines = 0;
  for (const data::Corpus& corpus : training_corpora(data)) {
    const std::string& text = corpus.tsv.empty() ? corpus.source : corpus.tsv;
    if (text.empty()) return "small";
    lines += count_lines(text);
  }
  const std::string name = lines < 5000 ? "tiny" : lines < 500000 ? "small" : "base";
  observer.log(fmt::format("preset: {}, chosen for {} pairs (--preset overrides it)", name, lines));
  return name;
}

/// The preset if the options name none.
std::string default_preset(const TrainOptions& options, Observer& observer) {
  TrainConfig requested;
  apply(requested, options);
  if (!requested.from.empty()) return requested.lora.enabled ? "lora" : "fine-tune";
  switch (requested.run.task) {
    case TaskKind::causal_lm:
      return "llama-tiny";
    case TaskKind::masked_lm:
      return "bert-tiny";
    case TaskKind::text_to_text:
      return "t5-tiny";
    case TaskKind::classify:
    case TaskKind::score:
    case TaskKind::rerank:
    case TaskKind::tag:
    case TaskKind::embed:
      return "encoder-tiny";
    case TaskKind::chat:  // these two are refused without a model to start from
    case TaskKind::preference:
    case TaskKind::translation:
      break;
  }
  return preset_for_size(options, requested.data, observer);
}

void read_preset(TrainConfig& config, const std::string& name) {
  read_toml(config, preset(name), name + ".toml");
}

}  // namespace

TrainConfig new_config(const TrainOptions& options, Observer& observer) {
  TrainConfig config;
  read_preset(config, options.preset.empty() ? default_preset(options, observer) : options.preset);
  apply(config, options);
  if (config.from.empty()) return config;
  read_initial_config(config);
  // Again, since the options override the configuration of the checkpoint.
  apply(config, options);
  return config;
}

TrainConfig resumed_config(const TrainOptions& options, const RunDirectory& run) {
  TrainConfig saved;
  read_toml(saved, read_file(run.config()), run.config().string(), FormerKeys::accepted);
  TrainConfig requested = saved;
  if (!options.preset.empty()) read_preset(requested, options.preset);
  apply(requested, options);
  require_same_run(saved, requested, run.config().string());
  return requested;
}

namespace {

PreparedRun open_run(const TrainOptions& options, Observer& observer) {
  require(!options.out.empty(), "no directory for the run is given");
  if (options.resume) {
    const auto directory = RunDirectory::resume(options.out);
    const TrainConfig config = resumed_config(options, directory);
    config.validate();
    return {config, directory};
  }
  const TrainConfig config = new_config(options, observer);
  config.validate();
  check_text_files(config);
  check_initial_weights(config);
  return {config, RunDirectory::begin(options.out)};
}

/// The run that rank 0 has opened.
PreparedRun join_run(const TrainOptions& options, const std::string& config_of_root) {
  TrainConfig config;
  read_toml(config, config_of_root, "the configuration of rank 0");
  require(!options.resume || path_exists(options.out),
          "{} does not exist here: the ranks of a resumed run read the same directory",
          options.out.string());
  check_text_files(config);
  return {config, RunDirectory::join(options.out, options.resume)};
}

}  // namespace

PreparedRun prepare_run(const TrainOptions& options, Observer& observer, distribute::Group& group) {
  std::optional<PreparedRun> run;
  std::string config, error;
  if (group.is_root()) try {
      run.emplace(open_run(options, observer));
      config = write_toml(run->config);
    } catch (const Error& problem) {
      if (group.alone()) throw;
      error = problem.what();
    }
  distribute::require_no_error(group, error);
  group.broadcast(config);
  PreparedRun prepared = distribute::propagate_errors(
      group, [&] { return run ? std::move(*run) : join_run(options, config); });
  const DistributedConfig& distributed = prepared.config.distributed;
  const std::chrono::milliseconds deadline(static_cast<int64_t>(distributed.timeout * 1000));
  group.set_deadline(deadline);
  if (distributed.backend == "nccl" && !group.alone()) distribute::use_nccl(group, deadline);
  return prepared;
}

}  // namespace heed::train

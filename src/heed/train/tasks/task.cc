#include "heed/train/tasks/task.h"

#include <unistd.h>

#include "heed/base/descriptor.h"
#include "heed/base/error.h"
#include "heed/train/tasks/pairs_task.h"
#include "heed/train/tasks/tasks.h"

namespace heed::train {

void check_text_files(const TrainConfig& config) {
  const DataConfig& data = config.data;
  if (reads_pairs(config.run.task))
    require(!data.tsv.empty() || (!data.source.empty() && !data.target.empty()) ||
                !data.corpora.empty(),
            "no training text: give data.source and data.target, data.tsv, or data.corpora");
  else
    require(!data.text.empty(), "no training text: give data.text, a file or a folder of files");
  const auto check = [](const std::string& path) {
    if (!path.empty() && ::access(path.c_str(), R_OK) != 0) fail_system(path, "cannot be read");
  };
  for (const auto& corpora : {training_corpora(data), validation_corpora(data)})
    for (const data::Corpus& corpus : corpora)
      for (const std::string* path :
           {&corpus.source, &corpus.target, &corpus.tsv, &corpus.alignments})
        check(*path);
  check(data.text);
  check(data.valid_text);
}

std::filesystem::path vocabulary_source(const TrainConfig& config, const RunDirectory& run) {
  return run.resumed() && !config.lora.enabled ? run.last() : std::filesystem::path(config.from);
}

std::unique_ptr<Task> prepare_task(const TrainConfig& config, const std::filesystem::path& start,
                                   Observer& observer, const std::filesystem::path& scratch) {
  config.validate();
  check_text_files(config);
  switch (config.run.task) {
    case TaskKind::translation:
    case TaskKind::text_to_text:
      return std::make_unique<PairsTask>(
          config, start, scratch.empty() ? std::filesystem::temp_directory_path() : scratch,
          observer);
    case TaskKind::causal_lm:
      return make_causal_task(config, start, observer);
    case TaskKind::masked_lm:
      return make_masked_task(config, start, observer);
    case TaskKind::chat:
      return make_chat_task(config, start, observer);
    case TaskKind::preference:
      return make_preference_task(config, start, observer);
    case TaskKind::classify:
    case TaskKind::score:
    case TaskKind::rerank:
    case TaskKind::tag:
      return make_labelled_task(config, start, observer);
    case TaskKind::embed:
      return make_embed_task(config, start, observer);
  }
  fail("the task is unknown");
}

}  // namespace heed::train

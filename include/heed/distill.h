#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heed/compute.h"
#include "heed/executor.h"
#include "heed/export.h"
#include "heed/hub.h"
#include "heed/train.h"

namespace heed {

/// Options of distill_model().
struct DistillOptions {
  /// The translator to learn from, a model directory or OWNER/NAME of the hub.
  std::filesystem::path teacher = {};
  /// Sentences of the source language, one per line; empty lines are skipped.
  std::filesystem::path text = {};
  /// The directory of the work and the student. New, empty or with translations.txt alone, or with
  /// `resume` that of an earlier call with the same options.
  std::filesystem::path out = {};
  /// What the models are measured on: sentences and their translations. Without them, part of the
  /// text (at most 500 lines) is held out, with the translations of the teacher as references.
  std::filesystem::path test_source = {}, test_target = {};
  int num_beams = 4;  // of the teacher
  /// Its arithmetic as it translates the text; see LoadOptions. int8 is more than twice as fast as
  /// f32 and loses little.
  std::optional<Compute> compute = {};
  double drop = 0.05;      // the share of translations that are dropped as the least probable
  double max_ratio = 2.5;  // pairs are dropped if one side has more than this many times the words
  double minutes = 0;      // of training the student, a fifth of them in int8; 0: as configured
  /// The configuration of the student's training, as TrainOptions has them. Empty: the preset is
  /// chosen by the amount of text.
  std::string preset = {}, config = {}, config_name = "the configuration";
  std::vector<std::string> assignments = {};  // the same, "section.key=value"
  /// Settings of the last steps of training, in which products are rounded to int8. They begin with
  /// the student and the preset fine-tune.
  std::vector<std::string> int8_assignments = {};
  /// Continues an earlier call that was stopped or killed at any moment.
  bool resume = false;
  /// The threads that compute; without it, Executor::shared(). Results do not depend on it.
  std::shared_ptr<Executor> executor = {};
  /// How a teacher that is named OWNER/NAME is found and downloaded.
  HubOptions hub = {};
};

/// A row of the table of distill_model(): a model at one stage, as it translates the test.
struct DistillStage {
  std::string name;             // "teacher", "student in int8", ...
  double bleu = 0, chrf = 0;    // against the references of the test, with 4 beams
  double words_per_second = 0;  // of the source, on this machine, loading left out
  int64_t bytes = 0;            // of the weights in memory, and of a shortlist's file

  bool operator==(const DistillStage&) const = default;
};

/// What distill_model() has made.
struct DistillResult {
  bool finished = false;                  // false: it was stopped
  std::filesystem::path model = {};       // the student in int8: a model directory
  std::filesystem::path shortlist = {};   // of the student, for LoadOptions::shortlist
  int64_t pairs = 0;                      // that the student has learned from
  std::vector<DistillStage> stages = {};  // the table
};

/// Functions that are called during the work, on the calling thread; empty ones are not.
struct DistillCallbacks {
  /// Of training; on_log gets lines about all stages.
  TrainCallbacks train = {};
  /// After some lines of the text: how many are translated.
  std::function<void(int64_t lines, int64_t all_lines)> on_translated = {};
};

/// Makes a small, fast translator from a large one (sequence-level knowledge distillation, Kim and
/// Rush 2016): the teacher translates the text, pairs are filtered by length and score, a student
/// is trained on them with guided alignment from the teacher's attention, then for some steps as
/// int8 inference computes, and quantised; a lexical shortlist is made from the alignments. Each
/// stage is measured. In `out` are
///
///     translations.txt        of the teacher: number ||| text ||| score ||| alignment, as
///                             `heed translate --alignments --resume` writes it, on ranks, too
///     corpus.source ...       the pairs that are left, and their alignments
///     student/, int8-aware/   runs of training
///     model/                  the student in int8, and its shortlist, lex.s2t
///     distill.json            what is done, and the table
///
/// Throws Error on options out of range, on texts that cannot be read, when `out` holds something
/// else, when `resume` comes with other options, and as train_model() and quantize_model() do.
HEED_EXPORT DistillResult distill_model(const DistillOptions& options,
                                        const DistillCallbacks& callbacks = {});

}  // namespace heed

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "call.h"
#include "heed/convert.h"
#include "heed/distill.h"
#include "heed/quantize.h"
#include "heed/shortlist.h"
#include "heed/train.h"
#include "model.h"
#include "options.h"
#include "value_class.h"

// Training and quantising.
namespace heed::python {
namespace {

/// What on_step gets.
struct TrainStep : StepRecord {
  int64_t planned_steps;
  double seconds_left;
};

/// Calls a Python function, if there is one, on the thread of the run. Its exception is kept, and
/// ends the run after a checkpoint.
template <typename Value>
void tell(const nb::object& function, const Value& value) {
  if (function.is_none()) return;
  const nb::gil_scoped_acquire acquire;
  try {
    function(value);
  } catch (nb::python_error& error) {
    Interruption::current()->hold(std::move(error));
  }
}

TrainOptions train_options_from(const Options& options) {
  Keywords keywords(options);
  TrainOptions to;
  keywords.read("out", to.out);
  keywords.read("preset", to.preset);
  keywords.read("config", to.config);
  keywords.read("config_name", to.config_name);
  keywords.read("assignments", to.assignments);
  keywords.read("resume", to.resume);
  to.executor = take_executor(keywords);
  to.hub = take_hub_options(keywords);
  keywords.finish("train");
  return to;
}

/// Unlike other calls, training is not interrupted within a pass: a run that ends saves a
/// checkpoint.
TrainResult train(const Options& options, const nb::object& on_step,
                  const nb::object& on_validation, const nb::object& on_log) {
  const TrainOptions train_options = train_options_from(options);
  Interruption interruption;
  const TrainCallbacks callbacks{
      .on_log = [&](std::string_view line) { tell(on_log, std::string(line)); },
      .on_step =
          [&](const StepRecord& step, int64_t planned_steps, double seconds_left) {
            tell(on_step, TrainStep{step, planned_steps, seconds_left});
          },
      .on_validation = [&](const ValidationRecord& now) { tell(on_validation, now); },
      .stop_requested = [&] { return interruption.asked(); }};
  try {
    const TrainResult result = [&] {
      const nb::gil_scoped_release release;
      return train_model(train_options, callbacks);
    }();
    interruption.check_signals();
    return result;
  } catch (...) {
    interruption.rethrow();
    throw;
  }
}

/// A path, or a pair of them.
TextFiles text_files_from(nb::handle value, std::string_view name) {
  if (!nb::isinstance<nb::tuple>(value)) return {.text = path_from(value, name)};
  const auto paths = list_from(value, name, path_from);
  if (paths.size() != 2) wrong_value(std::string(name) + ": expected a path or a pair of paths");
  return {.text = paths[0], .reference = paths[1]};
}

QuantizeResult quantize(nb::handle source, nb::handle target, const Options& options) {
  const auto from = path_from(source, "source"), to = path_from(target, "target");
  Keywords keywords(options);
  QuantizeOptions quantize_options;
  keywords.read("weights", quantize_options.weights);
  if (const nb::object files = keywords.take("calibration"))
    quantize_options.calibration = text_files_from(files, "calibration");
  if (const nb::object files = keywords.take("held_out"))
    quantize_options.held_out = text_files_from(files, "held_out");
  quantize_options.executor = take_executor(keywords);
  quantize_options.hub = take_hub_options(keywords);
  keywords.finish("quantize");
  return run([&] { return quantize_model(from, to, quantize_options); });
}

std::vector<std::string> convert(nb::handle source, nb::handle target, const Options& options) {
  const auto from = path_from(source, "source"), to = path_from(target, "target");
  Keywords keywords(options);
  ConvertOptions convert_options;
  keywords.read("weights", convert_options.weights);
  convert_options.adapters = take_adapters(keywords);
  if (const nb::object base = keywords.take("base")) convert_options.base = path_from(base, "base");
  convert_options.executor = take_executor(keywords);
  convert_options.hub = take_hub_options(keywords);
  keywords.finish("convert");
  return run([&] { return convert_model(from, to, convert_options); });
}

ShortlistResult shortlist(nb::handle model, nb::handle file, const Options& options) {
  const auto from = path_from(model, "model"), to = path_from(file, "file");
  Keywords keywords(options);
  ShortlistOptions shortlist_options;
  keywords.read("source", shortlist_options.source);
  keywords.read("target", shortlist_options.target);
  keywords.read("alignments", shortlist_options.alignments);
  keywords.read("best", shortlist_options.best);
  keywords.read("frequent", shortlist_options.frequent);
  shortlist_options.executor = take_executor(keywords);
  shortlist_options.hub = take_hub_options(keywords);
  keywords.finish("make_shortlist");
  return run([&] { return make_shortlist(from, to, shortlist_options); });
}

DistillOptions distill_options_from(const Options& options) {
  Keywords keywords(options);
  DistillOptions to;
  keywords.read("teacher", to.teacher);
  keywords.read("text", to.text);
  keywords.read("out", to.out);
  keywords.read("test_source", to.test_source);
  keywords.read("test_target", to.test_target);
  keywords.read("num_beams", to.num_beams);
  keywords.read("compute", to.compute);
  keywords.read("drop", to.drop);
  keywords.read("max_ratio", to.max_ratio);
  keywords.read("minutes", to.minutes);
  keywords.read("preset", to.preset);
  keywords.read("assignments", to.assignments);
  keywords.read("int8_assignments", to.int8_assignments);
  keywords.read("resume", to.resume);
  to.executor = take_executor(keywords);
  to.hub = take_hub_options(keywords);
  keywords.finish("distill");
  return to;
}

/// Interrupted as train() is.
DistillResult distill(const Options& options, const nb::object& on_log) {
  const DistillOptions distill_options = distill_options_from(options);
  Interruption interruption;
  DistillCallbacks callbacks;
  callbacks.train.on_log = [&](std::string_view line) { tell(on_log, std::string(line)); };
  callbacks.train.stop_requested = [&] { return interruption.asked(); };
  try {
    const DistillResult result = [&] {
      const nb::gil_scoped_release release;
      return distill_model(distill_options, callbacks);
    }();
    interruption.check_signals();
    return result;
  } catch (...) {
    interruption.rethrow();
    throw;
  }
}

void bind_train_results(nb::module_& m) {
  ValueClass<TrainStep>(m, "TrainStep", "One optimizer step.")
      .field("step", &TrainStep::step, "counted from 1")
      .field("epoch", &TrainStep::epoch, "counted from 0")
      .field("seconds", &TrainStep::seconds, "since the run began")
      .field("loss", &TrainStep::loss, "label-smoothed, per target token, nats")
      .field("gradient_norm", &TrainStep::gradient_norm, "before clipping")
      .field("learning_rate", &TrainStep::learning_rate, "of this step")
      .field("tokens_per_second", &TrainStep::tokens_per_second,
             "the decoder's, or the encoder's in encoder-only models")
      .field("skipped", &TrainStep::skipped, "as an outlier")
      .field("planned_steps", &TrainStep::planned_steps, "0: not known yet")
      .field("seconds_left", &TrainStep::seconds_left, "an estimate")
      .finish();
  ValueClass<ValidationSample>(m, "ValidationSample",
                               "A validation example and the model's output for it.")
      .field("input", &ValidationSample::input, "what the model read")
      .field("reference", &ValidationSample::reference, "what was expected")
      .field("output", &ValidationSample::output, "what it made")
      .finish();
  ValueClass<DirectionScores>(m, "DirectionScores",
                              "The scores of the translations from one language to another.")
      .field("languages", &DirectionScores::languages, "\"en-de\"")
      .field("bleu", &DirectionScores::bleu, "of the corpus")
      .field("chrf", &DirectionScores::chrf, "of the corpus");
  ValueClass<ValidationRecord>(m, "ValidationRecord", "The results of a validation.")
      .field("step", &ValidationRecord::step, "counted from 1")
      .field("epoch", &ValidationRecord::epoch, "counted from 0")
      .field("seconds", &ValidationRecord::seconds, "since the run began")
      .field("train_loss", &ValidationRecord::train_loss, "mean since the last validation")
      .field("loss", &ValidationRecord::loss, "label-smoothed, per target token, nats")
      .field("perplexity", &ValidationRecord::perplexity, "of the true targets, without smoothing")
      .field("bleu", &ValidationRecord::bleu, "where there are translations")
      .field("chrf", &ValidationRecord::chrf, "where there are translations")
      .field("directions", &ValidationRecord::directions,
             "of each corpus for validation, if there are several")
      .field("metrics", &ValidationRecord::metrics, "of a task that gives labels, by name")
      .field("best_by", &ValidationRecord::best_by,
             "the metric by which the best model is chosen, if there are metrics")
      .field("best", &ValidationRecord::best, "whether this is the best model of the run so far")
      .field("samples", &ValidationRecord::samples, "some examples")
      .finish();
  ValueClass<TrainResult>(m, "TrainResult", "What has become of a run.")
      .field("finished", &TrainResult::finished, "False: it was stopped")
      .field("model", &TrainResult::model, "the directory of the best model, or adapter")
      .field("report", &TrainResult::report, "report.html")
      .finish();
}

void bind_quantize_results(nb::module_& m) {
  ValueClass<QualityChange>(m, "QualityChange", "The quality of a model and of its quantised copy.")
      .field("measure", &QualityChange::measure, "'perplexity', 'cosine' or 'BLEU'")
      .field("measured_on", &QualityChange::measured_on, "'held-out.txt, 21436 tokens'")
      .field("before", &QualityChange::before, "of the model, computed in f32")
      .field("after", &QualityChange::after, "of the copy, computed in int8")
      .field("after_weights_only", &QualityChange::after_weights_only,
             "of the copy, computed in f32")
      .finish();
  ValueClass<QuantizeResult>(m, "QuantizeResult", "What a quantised copy is like.")
      .field("matrices", &QuantizeResult::matrices, "their number by type")
      .field("bytes_before", &QuantizeResult::bytes_before, "of the files with the weights")
      .field("bytes_after", &QuantizeResult::bytes_after, "of the files with the weights")
      .field("bits_per_weight_before", &QuantizeResult::bits_per_weight_before,
             "mean over all parameters")
      .field("bits_per_weight_after", &QuantizeResult::bits_per_weight_after,
             "mean over all parameters")
      .field("quality", &QuantizeResult::quality, "with held_out")
      .finish();
}

void bind_distill_results(nb::module_& m) {
  ValueClass<ShortlistResult>(m, "ShortlistResult", "What a shortlist is like.")
      .field("pairs", &ShortlistResult::pairs, "of sentences that were read")
      .field("entries", &ShortlistResult::entries, "lines of the file")
      .field("coverage", &ShortlistResult::coverage,
             "the share of target tokens that are in the shortlist of their source")
      .field("mean_tokens", &ShortlistResult::mean_tokens, "in the shortlist of a source")
      .field("vocab_size", &ShortlistResult::vocab_size, "tokens without a shortlist")
      .finish();
  ValueClass<DistillStage>(m, "DistillStage", "A model at one stage of a distillation.")
      .field("name", &DistillStage::name, "'teacher', 'student in int8', ...")
      .field("bleu", &DistillStage::bleu, "of the test")
      .field("chrf", &DistillStage::chrf, "of the test")
      .field("words_per_second", &DistillStage::words_per_second, "of the source")
      .field("bytes", &DistillStage::bytes, "of the weights in memory, and of a shortlist")
      .finish();
  ValueClass<DistillResult>(m, "DistillResult", "What a distillation has made.")
      .field("finished", &DistillResult::finished, "False: it was stopped")
      .field("model", &DistillResult::model, "the directory of the student in int8")
      .field("shortlist", &DistillResult::shortlist, "a file for load(..., shortlist=...)")
      .field("pairs", &DistillResult::pairs, "that the student has learned from")
      .field("stages", &DistillResult::stages, "the table")
      .finish();
}

}  // namespace

void bind_training(nb::module_& m) {
  bind_train_results(m);
  bind_quantize_results(m);
  bind_distill_results(m);
  m.def("train", &train, nb::arg("options"), nb::arg("on_step").none(),
        nb::arg("on_validation").none(), nb::arg("on_log").none());
  m.def("quantize", &quantize, nb::arg("source"), nb::arg("target"), nb::arg("options"));
  m.def("make_shortlist", &shortlist, nb::arg("model"), nb::arg("file"), nb::arg("options"));
  m.def("distill", &distill, nb::arg("options"), nb::arg("on_log").none());
  m.def("convert", &convert, nb::arg("source"), nb::arg("target"), nb::arg("options"));
}

}  // namespace heed::python

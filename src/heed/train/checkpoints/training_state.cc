#include "heed/train/checkpoints/training_state.h"

#include <charconv>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"

namespace heed::train {
namespace {

nlohmann::json outliers_to_json(const Outliers& outliers) {
  const Outliers::State& s = outliers.state();
  return {{"count", s.count}, {"mean", s.mean}, {"variance", s.variance}};
}

Outliers::State outliers_from_json(const nlohmann::json& json, const std::string& file) {
  return {get<int64_t>(json, "count", file), get<double>(json, "mean", file),
          get<double>(json, "variance", file)};
}

const nlohmann::json& member(const nlohmann::json& json, const char* key, const std::string& file) {
  require(json.is_object() && json.contains(key), "{}: {} is missing", file, key);
  return json.at(key);
}

// The hash is a string, since many JSON readers do not support 64-bit integers.
nlohmann::json fingerprint_to_json(const data::Fingerprint& text) {
  return {{"count", text.count}, {"hash", fmt::format("{:016x}", text.hash)}};
}

data::Fingerprint fingerprint_from_json(const nlohmann::json& json, const std::string& file) {
  data::Fingerprint text{.count = get<int64_t>(json, "count", file)};
  const auto hash = get<std::string>(json, "hash", file);
  const char* end = hash.data() + hash.size();
  const auto [stop, problem] = std::from_chars(hash.data(), end, text.hash, 16);
  require(problem == std::errc() && stop == end, "{}: hash is {}, expected a hexadecimal number",
          file, excerpt(hash));
  return text;
}

}  // namespace

nlohmann::json TrainingState::to_json() const {
  nlohmann::json json = {{"step", step},
                         {"epoch", epoch},
                         {"batch", batch},
                         {"planned_steps", planned_steps},
                         {"target_tokens", tokens},
                         {"seconds", seconds},
                         {"finished", finished},
                         {"token_budget", token_budget},
                         {"gradient_accumulation_steps", gradient_accumulation_steps},
                         {"leaves", microbatches},
                         {"losses", outliers_to_json(losses)},
                         {"gradient_norms", outliers_to_json(gradient_norms)},
                         {"outliers_in_a_row", outliers_in_a_row},
                         {"skipped_steps", skipped_steps},
                         {"best_score", best_score},
                         {"best_step", best_step},
                         {"validations_since_best", validations_since_best},
                         {"averaged_steps", averaged_steps}};
  if (data)
    json["data"] = {{"training", fingerprint_to_json(data->training)},
                    {"validation", fingerprint_to_json(data->validation)}};
  if (base) json["base"] = fingerprint_to_json(*base);
  return json;
}

TrainingState TrainingState::from_json(const nlohmann::json& json, const std::string& file) {
  TrainingState s;
  s.step = get<int64_t>(json, "step", file);
  s.epoch = get<int64_t>(json, "epoch", file);
  s.batch = get<int64_t>(json, "batch", file);
  s.planned_steps = get<int64_t>(json, "planned_steps", file);
  s.tokens = get<int64_t>(json, "target_tokens", file);
  s.seconds = get<double>(json, "seconds", file);
  s.finished = get<bool>(json, "finished", file);
  if (json.contains("token_budget")) {
    s.token_budget = get<int64_t>(json, "token_budget", file);
    s.gradient_accumulation_steps = get<int64_t>(json, "gradient_accumulation_steps", file);
  }
  if (json.contains("leaves")) s.microbatches = get<int64_t>(json, "leaves", file);
  s.losses.restore(outliers_from_json(member(json, "losses", file), file));
  s.gradient_norms.restore(outliers_from_json(member(json, "gradient_norms", file), file));
  s.outliers_in_a_row = get<int64_t>(json, "outliers_in_a_row", file);
  s.skipped_steps = get<int64_t>(json, "skipped_steps", file);
  // Older checkpoints of translation models have the name best_bleu.
  s.best_score = get<double>(json, json.contains("best_bleu") ? "best_bleu" : "best_score", file);
  s.best_step = get<int64_t>(json, "best_step", file);
  s.validations_since_best = get<int64_t>(json, "validations_since_best", file);
  for (const auto& step : member(json, "averaged_steps", file)) {
    require(step.is_number_integer(), "{}: averaged_steps holds {}, expected integers", file,
            dump_json(step));
    s.averaged_steps.push_back(step.get<int64_t>());
  }
  if (json.contains("data")) {
    const nlohmann::json& data = json["data"];
    s.data = {fingerprint_from_json(member(data, "training", file), file),
              fingerprint_from_json(member(data, "validation", file), file)};
  }
  if (json.contains("base")) s.base = fingerprint_from_json(member(json, "base", file), file);
  for (const int64_t count : {s.step, s.epoch, s.batch, s.planned_steps, s.tokens, s.token_budget,
                              s.gradient_accumulation_steps})
    require(count >= 0, "{}: a counter is {}, expected at least 0", file, count);
  return s;
}

}  // namespace heed::train

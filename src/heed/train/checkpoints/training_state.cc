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

/// Calls visit(key, field, present_with) for the fields that are plain numbers. Older checkpoints
/// have a field only if they have the key `present_with`, if there is one.
template <typename State, typename Visit>
void visit_fields(State& s, const Visit& visit) {
  visit("step", s.step, nullptr);
  visit("epoch", s.epoch, nullptr);
  visit("batch", s.batch, nullptr);
  visit("planned_steps", s.planned_steps, nullptr);
  visit("target_tokens", s.tokens, nullptr);
  visit("seconds", s.seconds, nullptr);
  visit("finished", s.finished, nullptr);
  visit("token_budget", s.token_budget, "token_budget");
  visit("gradient_accumulation_steps", s.gradient_accumulation_steps, "token_budget");
  visit("leaves", s.microbatches, "leaves");
  visit("outliers_in_a_row", s.outliers_in_a_row, nullptr);
  visit("skipped_steps", s.skipped_steps, nullptr);
  visit("best_step", s.best_step, nullptr);
  visit("validations_since_best", s.validations_since_best, nullptr);
}

}  // namespace

nlohmann::json TrainingState::to_json() const {
  nlohmann::json json = {{"losses", outliers_to_json(losses)},
                         {"gradient_norms", outliers_to_json(gradient_norms)},
                         {"best_score", best_score},
                         {"averaged_steps", averaged_steps}};
  visit_fields(*this, [&](const char* key, const auto& field, const char*) { json[key] = field; });
  if (data)
    json["data"] = {{"training", fingerprint_to_json(data->training)},
                    {"validation", fingerprint_to_json(data->validation)}};
  if (base) json["base"] = fingerprint_to_json(*base);
  return json;
}

TrainingState TrainingState::from_json(const nlohmann::json& json, const std::string& file) {
  TrainingState s;
  visit_fields(s, [&]<typename T>(const char* key, T& field, const char* present_with) {
    if (present_with == nullptr || json.contains(present_with)) field = get<T>(json, key, file);
  });
  s.losses.restore(outliers_from_json(member(json, "losses", file), file));
  s.gradient_norms.restore(outliers_from_json(member(json, "gradient_norms", file), file));
  // Older checkpoints of translation models have the name best_bleu.
  s.best_score = get<double>(json, json.contains("best_bleu") ? "best_bleu" : "best_score", file);
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

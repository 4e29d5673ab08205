#include "heed/engine/distill/distill_state.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"

namespace heed::engine {
namespace {

/// What the result depends on.
nlohmann::json json_of(const DistillOptions& options, const std::string& teacher) {
  const auto path = [](const std::filesystem::path& file) {
    return file.empty() ? "" : std::filesystem::absolute(file).lexically_normal().string();
  };
  return {{"teacher", teacher},
          {"text", path(options.text)},
          {"test_source", path(options.test_source)},
          {"test_target", path(options.test_target)},
          {"num_beams", options.num_beams},
          {"compute", options.compute ? name_of(*options.compute) : "auto"},
          {"drop", options.drop},
          {"max_ratio", options.max_ratio},
          {"minutes", options.minutes},
          {"preset", options.preset},
          {"config", options.config},
          {"assignments", options.assignments},
          {"int8_assignments", options.int8_assignments}};
}

/// Whether a directory is new, or has only what `heed translate` may have written for the teacher,
/// and what is left of a distillation that was killed at its first write.
bool has_nothing_else(const std::filesystem::path& directory) {
  if (!path_exists(directory)) return true;
  for (const auto& entry : std::filesystem::directory_iterator(directory))
    if (!entry.path().filename().string().starts_with("translations.txt") &&
        !is_left_temporary(entry.path()))
      return false;
  return true;
}

}  // namespace

DistillState::DistillState(const DistillOptions& options, const std::string& teacher)
    : file_(options.out / "distill.json"), options_(dump_json(json_of(options, teacher))) {
  if (path_exists(file_)) {
    require(options.resume, "{} has a distillation already: --resume continues it",
            options.out.string());
    read(file_.string());
    return;
  }
  require(has_nothing_else(options.out), "{} is not empty, and has no distillation to continue",
          options.out.string());
  make_directory(options.out);
  write();
}

void DistillState::read(const std::string& name) {
  const nlohmann::json json = parse_json(read_file(file_), name);
  require(json.is_object() && json.contains("options") && json.contains("stages"),
          "{} is no file of a distillation", name);
  const nlohmann::json& before = json["options"];
  const nlohmann::json now = parse_json(options_, "options");
  for (const auto& [key, value] : now.items())
    require(before.contains(key) && before[key] == value,
            "{} was begun with {} = {}, which is now {}", name, key,
            before.contains(key) ? excerpt(before[key]) : "nothing", excerpt(value));
  done_ = get<std::vector<std::string>>(json, "done", name);
  pairs_ = get<int64_t>(json, "pairs", name);
  for (const nlohmann::json& stage : json["stages"])
    stages_.push_back({get<std::string>(stage, "name", name), get<double>(stage, "bleu", name),
                       get<double>(stage, "chrf", name),
                       get<double>(stage, "words_per_second", name),
                       get<int64_t>(stage, "bytes", name)});
}

void DistillState::write() const {
  nlohmann::json stages = nlohmann::json::array();
  for (const auto& [name, bleu, chrf, words_per_second, bytes] : stages_)
    stages.push_back({{"name", name},
                      {"bleu", bleu},
                      {"chrf", chrf},
                      {"words_per_second", words_per_second},
                      {"bytes", bytes}});
  const nlohmann::json json{{"options", parse_json(options_, "options")},
                            {"done", done_},
                            {"pairs", pairs_},
                            {"stages", stages}};
  write_file_atomically(file_, dump_json(json, {.indent = 1}) + '\n');
}

bool DistillState::done(const std::string& part) const {
  return std::ranges::find(done_, part) != done_.end();
}

void DistillState::set_done(const std::string& part) {
  done_.push_back(part);
  write();
}

bool DistillState::has_stage(const std::string& name) const {
  return std::ranges::find(stages_, name, &DistillStage::name) != stages_.end();
}

void DistillState::add(const DistillStage& stage) {
  stages_.push_back(stage);
  write();
}

}  // namespace heed::engine

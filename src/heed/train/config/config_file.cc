// Reads and writes training configurations as TOML.
#include <toml++/toml.h>

#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/base/renamed.h"
#include "heed/base/spelling.h"
#include "heed/model/renamed_fields.h"
#include "heed/train/config/config.h"
#include "heed/train/config/config_fields.h"
#include "heed/train/config/toml_keys.h"

namespace heed::train {
namespace {

constexpr Renamed kRenamedKeys[] = {
    {"optimizer.schedule", "optimizer.lr_scheduler_type"},
    {"optimizer.warmup", "optimizer.warmup_steps"},
    {"optimizer.final_rate", "optimizer.min_lr_rate"},
    {"optimizer.beta1", "optimizer.adam_beta1"},
    {"optimizer.beta2", "optimizer.adam_beta2"},
    {"optimizer.epsilon", "optimizer.adam_epsilon"},
    {"optimizer.clip", "optimizer.max_grad_norm"},
    {"optimizer.label_smoothing", "optimizer.label_smoothing_factor"},
    {"run.accumulation", "run.gradient_accumulation_steps"},
    {"run.steps", "run.max_steps"},
    {"run.epochs", "run.num_train_epochs"},
    {"validation.every", "validation.eval_steps"},
    {"validation.beam", "validation.num_beams"},
    {"validation.patience", "validation.early_stopping_patience"},
};

/// The new name of a renamed configuration key: "run.max_steps" for "run.steps". Empty if `key` was
/// not renamed.
std::string current_key(const std::string& key) {
  constexpr std::string_view kModel = "model.";
  if (!key.starts_with(kModel)) return std::string(current_of(key, kRenamedKeys));
  const std::string_view field = model::current_name(std::string_view(key).substr(kModel.size()));
  return field.empty() ? "" : std::string(kModel).append(field);
}

/// The largest edit distance from a key at which another key is suggested instead.
constexpr size_t kMaxTypos = 3;

Field& find_field(std::vector<Field>& all, const std::string& key, const std::string& where,
                  FormerKeys former = FormerKeys::refused) {
  const std::string current = current_key(key);
  require(current.empty() || former == FormerKeys::accepted, "{}: {} is called {} now", where, key,
          current);
  for (Field& candidate : all)
    if (candidate.key == (current.empty() ? key : current)) return candidate;
  const std::string_view begin = std::string_view(key).substr(0, 100);
  const auto nearest = std::min_element(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    return edit_distance(a.key, begin) < edit_distance(b.key, begin);
  });
  const std::string hint = edit_distance(nearest->key, begin) <= kMaxTypos
                               ? fmt::format("did you mean {}?", nearest->key)
                               : "heed train --dump-config prints all keys";
  fail("{}: there is no key {}; {}", where, one_line(key), hint);
}

std::string section_of(const std::string& key) { return key.substr(0, key.find('.')); }

}  // namespace

void read_toml(TrainConfig& config, const std::string& text, const std::string& file,
               FormerKeys former) {
  check_toml_keys(text, file);
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    fail("{}:{}: {}", file, error.source().begin.line, one_line(error.description()));
  }
  std::vector<Field> all = fields(config);
  for (const auto& [section, content] : table) {
    const std::string where = fmt::format("{}:{}", file, content.source().begin.line);
    const std::string name{section.str()};
    const toml::table* inner = content.as_table();
    require(inner != nullptr, "{}: {} is outside of any [section]", where, one_line(name));
    for (const auto& [key, value] : *inner) {
      const std::string line = fmt::format("{}:{}", file, value.source().begin.line);
      Field& found = find_field(all, fmt::format("{}.{}", name, key.str()), line, former);
      try {
        found.read(value);
      } catch (const Error& error) {
        fail("{}: {}", line, error.what());
      }
    }
  }
}

void set_field(TrainConfig& config, const std::string& assignment, std::string_view option) {
  const size_t equals = assignment.find('=');
  const size_t dot = assignment.find('.');
  require(equals != std::string::npos && dot < equals,
          "{}: {} is not an assignment, expected section.key=value", option, quoted(assignment));
  std::vector<Field> all = fields(config);
  Field& found = find_field(all, assignment.substr(0, equals), std::string(option));
  const std::string value = assignment.substr(equals + 1);
  toml::table table;
  try {
    table = toml::parse("value = " + value);
  } catch (const toml::parse_error&) {
    table.insert_or_assign("value", value);  // a bare word is a string
  }
  found.read(*table.get("value"));
}

std::string write_toml(const TrainConfig& config) {
  TrainConfig copy = config;
  std::string out, section;
  for (const Field& entry : fields(copy)) {
    if (section_of(entry.key) != section) {
      section = section_of(entry.key);
      out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", section);
    }
    const std::string line =
        fmt::format("{} = {}", entry.key.substr(section.size() + 1), entry.print());
    out += fmt::format("{:<34} # {}\n", line, entry.help);
  }
  return out;
}

void check_written_fields(const TrainConfig& config) {
  TrainConfig before = config, after;
  const std::vector<Field> written = fields(before), read = fields(after);
  for (size_t i = 0; i < written.size(); ++i) {
    const std::string value = written[i].print();
    bool same = false;
    try {
      read[i].read(*toml::parse("value = " + value).get("value"));
      same = read[i].print() == value;
    } catch (const std::exception&) {  // a syntax error, or Error about the type
    }
    require(same, "{} is {}, which TOML cannot hold: expected valid UTF-8", written[i].key,
            one_line(value));
  }
}

void require_same_run(const TrainConfig& saved, const TrainConfig& requested,
                      const std::string& file) {
  TrainConfig before = saved, now = requested;
  const std::vector<Field> old_fields = fields(before), new_fields = fields(now);
  for (size_t i = 0; i < old_fields.size(); ++i) {
    const std::string& key = old_fields[i].key;
    const bool free = key == "run.max_steps" || key == "run.num_train_epochs" ||
                      key == "run.minutes" || key == "distributed.timeout" ||
                      key == "distributed.backend" || section_of(key) == "validation";
    require(free || old_fields[i].print() == new_fields[i].print(),
            "{} is {}, but the run in {} has {}: it cannot change when a run is resumed", key,
            new_fields[i].print(), file, old_fields[i].print());
  }
}

}  // namespace heed::train

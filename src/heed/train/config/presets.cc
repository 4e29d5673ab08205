#include <array>
#include <string_view>

#include "heed/base/error.h"
#include "heed/train/config/config.h"

namespace heed::train {

namespace presets {
// The files of configs/, embedded when heed is built.
extern const std::string_view tiny_toml, small_toml, base_toml, big_toml, llama_tiny_toml,
    bert_tiny_toml, encoder_tiny_toml, t5_tiny_toml, fine_tune_toml, lora_toml;
}  // namespace presets

namespace {

struct Preset {
  std::string_view name;
  const std::string_view& text;
};

constexpr std::array<Preset, 10> kPresets{{{"tiny", presets::tiny_toml},
                                           {"small", presets::small_toml},
                                           {"base", presets::base_toml},
                                           {"big", presets::big_toml},
                                           {"llama-tiny", presets::llama_tiny_toml},
                                           {"bert-tiny", presets::bert_tiny_toml},
                                           {"encoder-tiny", presets::encoder_tiny_toml},
                                           {"t5-tiny", presets::t5_tiny_toml},
                                           {"fine-tune", presets::fine_tune_toml},
                                           {"lora", presets::lora_toml}}};

}  // namespace

std::vector<std::string> preset_names() {
  std::vector<std::string> names;
  for (const Preset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

std::string preset(const std::string& name) {
  for (const Preset& preset : kPresets)
    if (preset.name == name) return std::string(preset.text);
  fail("there is no preset {}, expected one of {}", name, fmt::join(preset_names(), ", "));
}

}  // namespace heed::train

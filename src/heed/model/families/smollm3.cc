#include "heed/model/families/smollm3.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/llama.h"

namespace heed::model {
namespace {

/// "no_rope_layers" has a 1 for each layer with rotary positions, whatever its name says. Without
/// it, every fourth layer has none.
std::vector<int64_t> read_rotary_layers(const nlohmann::json& json, const std::string& file,
                                        int64_t layers) {
  if (layers < 0 || layers > kMaxLayers) return {};
  auto rotated = get_or(json, "no_rope_layers", std::vector<int64_t>(), file);
  if (rotated.empty()) {
    const auto interval = get_or<int64_t>(json, "no_rope_layer_interval", 4, file);
    require(interval > 0, "{}: no_rope_layer_interval is {}, expected more than 0", file, interval);
    for (int64_t layer = 1; layer <= layers; ++layer) rotated.push_back(layer % interval != 0);
  }
  require(std::ssize(rotated) >= layers, "{}: no_rope_layers has {} numbers, expected {}", file,
          rotated.size(), layers);
  rotated.resize(static_cast<size_t>(layers));
  if (std::ranges::count(rotated, 1) == layers) rotated.clear();
  return rotated;
}

ModelConfig read_smollm3(const nlohmann::json& json, const std::string& file) {
  require(!get_or(json, "use_sliding_window", false, file),
          "{}: use_sliding_window is true, expected false", file);
  ModelConfig c = read_biased_llama(
      with_defaults(json, {{"tie_word_embeddings", true}, {"rope_theta", 2e6}}), file);
  c.rotary_layers = read_rotary_layers(json, file, c.decoder_layers);
  return c;
}

nlohmann::json write_smollm3(const ModelConfig& c) {
  nlohmann::json json = write_biased_llama(c, "smollm3", "SmolLM3ForCausalLM");
  json["no_rope_layers"] = c.rotary_layers.empty()
                               ? std::vector<int64_t>(static_cast<size_t>(c.decoder_layers), 1)
                               : c.rotary_layers;
  return json;
}

}  // namespace

Family smollm3_family() {
  return {.model_type = "smollm3",
          .read_config = read_smollm3,
          .write_config = write_smollm3,
          .stored = llama_weight,
          .redundant = llama_redundant};
}

}  // namespace heed::model

#include "heed/model/families/known.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/model/families/bidirectional.h"
#include "heed/model/families/config_json.h"
#include "heed/model/families/decoder_classifier.h"
#include "heed/model/families/llama.h"

namespace heed::model {
namespace {

/// "no_rope_layers" has a 1 for each layer with rotary positions, whatever its name says. Without
/// it, every fourth layer has none.
std::vector<int64_t> read_rotary_layers(ConfigReader& json, int64_t layers) {
  const auto interval = json.get_or<int64_t>("no_rope_layer_interval", 4);
  require(interval > 0, "{}: no_rope_layer_interval is {}, expected more than 0", json.file(),
          interval);
  if (layers < 0 || layers > kMaxLayers) return {};
  auto rotated = json.get_or("no_rope_layers", std::vector<int64_t>());
  if (rotated.empty())
    for (int64_t layer = 1; layer <= layers; ++layer) rotated.push_back(layer % interval != 0);
  require(std::ssize(rotated) >= layers, "{}: no_rope_layers has {} numbers, expected {}",
          json.file(), rotated.size(), layers);
  rotated.resize(static_cast<size_t>(layers));
  if (std::ranges::count(rotated, 1) == layers) rotated.clear();
  return rotated;
}

ModelConfig read_smollm3(ConfigReader& json) {
  json.expect("use_sliding_window", false);
  json.set_defaults({{"num_key_value_heads", 4},
                     {"max_position_embeddings", 32768},
                     {"tie_word_embeddings", true},
                     {"pad_token_id", 128004},
                     {"bos_token_id", 128000},
                     {"eos_token_id", 128001}});
  ModelConfig c = read_biased_llama(json, {.default_theta = 2e6});
  c.rotary_layers = read_rotary_layers(json, c.decoder_layers);
  // The layers have no window, which "layer_types" may say again.
  json.understand({"sliding_window", "max_window_layers"});
  json.set("sliding_window", nullptr);
  read_windows(json, c.decoder_layers, [](int64_t) { return false; });
  return c;
}

nlohmann::json write_smollm3(const ModelConfig& c) {
  nlohmann::json json = write_biased_llama(c, "smollm3", "SmolLM3ForCausalLM");
  json["no_rope_layers"] = c.rotary_layers.empty()
                               ? std::vector<int64_t>(static_cast<size_t>(c.decoder_layers), 1)
                               : c.rotary_layers;
  return json;
}

Family plain_smollm3() {
  // Which layers have no positions is not in the file: every fourth, as in the published model.
  return like_llama("smollm3", read_smollm3, write_smollm3, llama_weight,
                    {.architectures = {"smollm3"},
                     .fields = {kGgufLlama},
                     .read = read_gguf_llama,
                     .in_pairs = true});
}

}  // namespace

/// SmolLM3 (Hugging Face, 2025): Llama without positions in every fourth layer.
Family smollm3_family() { return with_classifier<maybe_bidirectional<plain_smollm3>>(); }

}  // namespace heed::model

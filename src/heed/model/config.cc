#include "heed/model/config.h"

#include "heed/base/error.h"

namespace heed::model {
namespace {

constexpr int64_t kLargest = int64_t{1} << 24;

void check_size(std::string_view name, int64_t size, int64_t least) {
  require(size >= least && size <= kLargest, "{} is {}, expected {} to {}", name, size, least,
          kLargest);
}

void check_rate(std::string_view name, float rate) {
  require(rate >= 0.0f && rate < 1.0f, "{} is {}, expected at least 0 and below 1", name, rate);
}

}  // namespace

void ModelConfig::validate() {
  if (n_kv_heads == 0) n_kv_heads = n_heads;
  check_size("vocab_size", vocab_size, 2);
  check_size("d_model", d_model, 1);
  check_size("d_ff", d_ff, 1);
  check_size("n_heads", n_heads, 1);
  check_size("n_kv_heads", n_kv_heads, 1);
  check_size("encoder_layers", encoder_layers, 1);
  check_size("decoder_layers", decoder_layers, 1);
  check_size("max_positions", max_positions, 1);
  require(n_heads % n_kv_heads == 0, "n_heads is {}, not divisible by n_kv_heads, which is {}",
          n_heads, n_kv_heads);
  if (d_head == 0) {
    require(d_model % n_heads == 0,
            "d_model is {}, not divisible by n_heads, which is {} (or give d_head)", d_model,
            n_heads);
    d_head = d_model / n_heads;
  }
  if (d_value == 0) d_value = d_head;
  check_size("d_head", d_head, 1);
  check_size("d_value", d_value, 1);
  check_rate("dropout", dropout);
  check_rate("attention_dropout", attention_dropout);
  check_rate("activation_dropout", activation_dropout);
  require(norm_epsilon >= 0.0f, "norm_epsilon is {}, expected at least 0", norm_epsilon);
  for (const auto& [name, id] :
       {std::pair{"pad_id", pad_id}, {"eos_id", eos_id}, {"start_id", start_id}})
    require(id >= 0 && id < vocab_size, "{} is {}, expected 0 to {}", name, id, vocab_size - 1);
}

std::string_view name_of(PositionKind kind) {
  switch (kind) {
    case PositionKind::none:
      return "none";
    case PositionKind::sinusoidal:
      return "sinusoidal";
    case PositionKind::learned:
      return "learned";
  }
  return "?";
}

}  // namespace heed::model

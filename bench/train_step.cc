// Trains a Transformer on random sentences, the paper's encoder-decoder (small, base), a Llama of
// the size of SmolLM2-135M, or (lora) an adapter of rank 16 of all linear maps of that Llama, whose
// weights are bf16, and prints, as one line of JSON, target tokens per second, the peak
// memory of the process, and the arithmetic (six operations per weight and token, and attention's)
// as a share of the machine's peak.
//
//   train_step small|base|llama|lora f32|bf16 [steps]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/checkpoint/module_pattern.h"
#include "heed/checkpoint/weights.h"
#include "heed/data/batch.h"
#include "heed/machine_limits.h"
#include "heed/model/transformer.h"
#include "heed/train/distributed/machine.h"
#include "heed/train/optimizers/optimizer.h"
#include "heed/train/step_gradients.h"

namespace {

using namespace heed;
using Clock = std::chrono::steady_clock;

constexpr int kWarmUp = 3;
constexpr double kPeakSeconds = 0.5;

struct Shape {
  model::ModelConfig config;
  int sentences, length;
};

/// SmolLM2-135M.
model::ModelConfig llama() {
  model::ModelConfig config;
  config.vocab_size = 49152;
  config.d_model = 576;
  config.encoder_layers = 0;
  config.decoder_layers = 30;
  config.n_heads = 9;
  config.n_kv_heads = 3;
  config.d_ff = 1536;
  config.activation = kernels::Activation::silu;
  config.gated = true;
  config.norm = nn::NormKind::rms;
  config.norm_placement = nn::NormPlacement::pre;
  config.qkv_bias = config.o_bias = config.ff_bias = config.head_bias = false;
  config.positions = model::PositionKind::rotary;
  config.scale_embedding = false;
  config.dropout = 0.0f;
  return config;
}

Shape shape_named(const std::string& name) {
  if (name == "llama" || name == "lora") return {llama(), 8, 128};
  model::ModelConfig config;
  config.vocab_size = 4000;
  config.max_positions = 256;
  if (name == "base") return {config, 32, 32};  // the defaults are the paper's base model
  require(name == "small", "a shape \"{}\", expected small, base, llama or lora", name);
  config.d_model = 256;
  config.n_heads = 4;
  config.d_ff = 1024;
  config.encoder_layers = config.decoder_layers = 3;
  return {config, 64, 32};
}

/// The peak memory of this process, in megabytes.
double peak_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:" && status >> word) return std::stod(word) / 1024;
  return 0;
}

/// Computes the loss of predicting every token from itself, which begins the backward pass.
void compute_loss(const model::Transformer& model, Context& context, const model::Tokens& tokens) {
  const kernels::CrossEntropyOptions options{
      .label_smoothing = 0.1f, .gradient_scale = 1.0f / static_cast<float>(tokens.ids.size())};
  if (model.has_encoder())
    model.loss(context, tokens, tokens, tokens.ids, options);
  else
    model.head().loss(context, model.decode_all(context, tokens), tokens.ids, options);
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

/// Freezes a model and attaches an adapter of its linear maps.
std::unique_ptr<model::LoraAdapter> adapt(model::Transformer& model) {
  auto adapter = std::make_unique<model::LoraAdapter>(1);
  for (Parameter& parameter : model.parameters().all()) parameter.trainable = false;
  for (const model::LinearModule& module : checkpoint::select_modules(model, {}))
    adapter->add(module, 16, 2.0f);
  model.attach({{&adapter->updates()}});
  return adapter;
}

void run(const std::string& name, DType dtype, int steps) {
  const Shape shape = shape_named(name);
  const bool lora = name == "lora";
  model::Transformer model(shape.config, lora ? std::nullopt : std::optional<uint64_t>(1));
  if (lora) checkpoint::init_weights(model, 1, {.dtype = DType::bf16});
  const auto adapter = lora ? adapt(model) : nullptr;
  nn::Parameters& trained = lora ? adapter->parameters() : model.parameters();
  const auto gradients = train::make_step_gradients(trained);
  train::Optimizer optimizer(gradients->parts(), {});
  std::vector<int32_t> ids, offsets{0};
  for (int sentence = 0; sentence < shape.sentences; ++sentence) {
    std::vector<int32_t> tokens;
    for (int i = 0; i < shape.length; ++i) tokens.push_back((sentence * 31 + i * 17) % 4000);
    data::append_sequence(tokens, ids, offsets);
  }
  const auto tokens = static_cast<int64_t>(ids.size());
  std::vector<double> seconds;
  for (int step = 0; step < steps + kWarmUp; ++step) {
    const auto begin = Clock::now();
    Tape tape(gradients->pass_gradients());
    Context context{.tape = &tape, .dtype = dtype, .dropout_seed = static_cast<uint64_t>(step)};
    compute_loss(model, context, {ids, offsets});
    tape.backward();
    const double norm = gradients->norm();
    optimizer.step(gradients->take(), 1e-4, norm > 1 ? 1 / norm : 1);
    if (step >= kWarmUp)
      seconds.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  const double peak =
      measure_arithmetic(dtype == DType::bf16 ? Compute::bf16 : Compute::f32, kPeakSeconds)
          .operations_per_second;
  const double step = median(seconds);
  // A frozen weight takes four operations per token instead of six.
  const double operations =
      (lora ? 2.0 / 3 : 1.0) *
      train::operations_of_step(
          model.config(), {model.has_encoder() ? tokens : 0, tokens, tokens, shape.sentences});
  std::printf("{\"tokens_per_second\": %.1f, \"peak_mb\": %.1f, \"share_of_peak\": %.3f}\n",
              static_cast<double>(tokens) / step, peak_megabytes(), operations / step / peak);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: train_step small|base|llama|lora f32|bf16 [steps]\n");
    return 2;
  }
  try {
    run(argv[1], std::string(argv[2]) == "bf16" ? DType::bf16 : DType::f32,
        argc > 3 ? std::max(1, std::atoi(argv[3])) : 20);
  } catch (const Error& error) {
    std::fprintf(stderr, "train_step: error: %s\n", error.what());
    return 1;
  }
}

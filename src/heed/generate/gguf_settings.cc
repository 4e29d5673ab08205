#include "heed/generate/gguf_settings.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/gguf/metadata.h"

namespace heed::generate {
namespace {

constexpr const char* kSuppressed = "tokenizer.ggml.suppress_tokens";
const std::string kSampling = "general.sampling.";

/// A kind of sampling that heed does not have, and the value that turns it off.
struct OtherSampling {
  const char* key;
  double off;
};
constexpr OtherSampling kOtherSampling[] = {
    {"mirostat", 0}, {"xtc_probability", 0}, {"penalty_repeat", 1}};

/// The key of an option that files can have.
template <typename Option>
std::string key_of(const Option& option) {
  return kSampling + std::string(option.name == "temperature" ? "temp" : option.name);
}

}  // namespace

void read_gguf_settings(const io::GgufMetadata& metadata, const std::string& file,
                        int64_t vocab_size, GenerationConfig& config) {
  if (metadata.contains(kSuppressed))
    for (const int64_t id : metadata.get<std::vector<int64_t>>(kSuppressed))
      if (id >= 0 && id < vocab_size)
        config.rules.suppress_tokens.push_back(static_cast<int32_t>(id));
  SamplingOptions& sampling = config.sampling;
  for_each_sampling_option([&]<typename Option>(const Option& option) {
    if (option.use != SamplingUse::samples) return;
    auto& number = sampling.*option.resolved;
    const auto found = metadata.get_or(key_of(option), static_cast<typename Option::Bound>(number));
    number = static_cast<typename Option::Number>(found);
  });
  sampling.top_k = std::max<int64_t>(sampling.top_k, 0);
  config.names_temperature = metadata.contains(key_of(GenerateOption::temperature));
  for (const auto& [key, off] : kOtherSampling)
    if (const double value = metadata.get_or<double>(kSampling + key, off); value != off)
      config.warnings.push_back(fmt::format(
          "{}: {}{} is {} and is ignored: heed does not sample so", file, kSampling, key, value));
  try {
    check(sampling, vocab_size);
  } catch (const Error& error) {
    fail("{}: {}: {}", file, kSampling, error.what());
  }
}

void write_gguf_settings(const GenerationConfig& config, io::GgufValues& metadata) {
  const SamplingOptions usual = GenerationConfig().sampling;
  for_each_sampling_option([&]<typename Option>(const Option& option) {
    if (option.use != SamplingUse::samples) return;
    const auto number = config.sampling.*option.resolved;
    if (number == usual.*option.resolved) return;
    if constexpr (std::is_floating_point_v<typename Option::Number>)
      metadata[key_of(option)] = number;
    else
      metadata[key_of(option)] = static_cast<uint32_t>(number);
  });
  if (!config.rules.suppress_tokens.empty()) metadata[kSuppressed] = config.rules.suppress_tokens;
}

}  // namespace heed::generate

#include "heed/generate/gguf_settings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "heed/base/error.h"
#include "heed/io/gguf_metadata.h"

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

}  // namespace

void read_gguf_settings(const io::GgufMetadata& metadata, const std::string& file,
                        int64_t vocab_size, GenerationConfig& config) {
  if (metadata.contains(kSuppressed))
    for (const int64_t id : metadata.get<std::vector<int64_t>>(kSuppressed))
      if (id >= 0 && id < vocab_size)
        config.rules.suppress_tokens.push_back(static_cast<int32_t>(id));
  const auto number = [&](const char* key, float otherwise) {
    return static_cast<float>(
        metadata.get_or<double>(kSampling + key, static_cast<double>(otherwise)));
  };
  SamplingOptions& sampling = config.sampling;
  sampling.temperature = number("temp", sampling.temperature);
  sampling.top_p = number("top_p", sampling.top_p);
  sampling.min_p = number("min_p", sampling.min_p);
  sampling.top_k = std::max<int64_t>(metadata.get_or<int64_t>(kSampling + "top_k", 0), 0);
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

}  // namespace heed::generate

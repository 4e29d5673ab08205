#include "heed/train/tasks/continuations.h"

#include "heed/base/error.h"
#include "heed/generate/generator.h"

namespace heed::train {

void add_continuations(const model::Transformer& model, const text::Tokenizer& tokenizer,
                       Compute compute, uint64_t seed,
                       const std::vector<std::vector<int32_t>>& prompts, ValidationRecord& record) {
  generate::GeneratorOptions options;
  options.sampling.temperature = 0.8f;
  options.sampling.seed = seed;
  options.max_new_tokens = kContinuationTokens;
  options.eos_ids = model.config().eos_ids();
  options.dtype = activation_dtype(compute);
  const auto outputs = generate::Generator(model, tokenizer, options).generate(prompts);
  for (size_t i = 0; i < outputs.size(); ++i) record.samples[i].output = outputs[i].text;
}

int32_t start_token(const model::ModelConfig& model) {
  const int32_t token = model.bos_id >= 0 ? model.bos_id : model.eos_id;
  require(token >= 0, "the model has neither bos_token_id nor eos_token_id, expected one of them");
  return token;
}

}  // namespace heed::train

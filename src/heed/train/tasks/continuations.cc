#include "heed/train/tasks/continuations.h"

#include "heed/base/error.h"
#include "heed/distribute/agree.h"
#include "heed/distribute/all_gather_texts.h"
#include "heed/generate/generator.h"

namespace heed::train {

void add_continuations(const model::Transformer& model, const text::Tokenizer& tokenizer,
                       Compute compute, uint64_t seed,
                       const std::vector<std::vector<int32_t>>& prompts, distribute::Group& group,
                       ValidationRecord& record) {
  generate::GeneratorOptions options;
  options.sampling.temperature = 0.8f;
  options.sampling.seed = seed;
  options.max_new_tokens = kContinuationTokens;
  options.rules.eos_ids = model.config().eos_ids();
  options.dtype = activation_dtype(compute);
  const auto first_of = [&](int rank) { return std::ssize(prompts) * rank / group.size(); };
  std::vector<int> owners;
  for (int rank = 0; rank < group.size(); ++rank)
    owners.insert(owners.end(), static_cast<size_t>(first_of(rank + 1) - first_of(rank)), rank);
  const int64_t begin = first_of(group.rank()), end = first_of(group.rank() + 1);
  std::vector<std::string> texts = distribute::propagate_errors(group, [&] {
    std::vector<std::string> own(prompts.size());
    const auto outputs = generate::Generator(model, tokenizer, options)
                             .generate({prompts.begin() + begin, prompts.begin() + end},
                                       static_cast<uint64_t>(begin));
    for (size_t i = 0; i < outputs.size(); ++i)
      own[static_cast<size_t>(begin) + i] = outputs[i].text;
    return own;
  });
  distribute::all_gather_texts(group, owners, texts);
  for (size_t i = 0; i < texts.size(); ++i) record.samples[i].output = std::move(texts[i]);
}

int32_t start_token(const model::ModelConfig& model) {
  const int32_t token = model.bos_id >= 0 ? model.bos_id : model.eos_id;
  require(token >= 0, "the model has neither bos_token_id nor eos_token_id, expected one of them");
  return token;
}

}  // namespace heed::train

#include "heed/train/causal_task.h"

#include "heed/base/error.h"
#include "heed/data/causal_set.h"

namespace heed::train {
namespace {

/// What a document begins with.
int32_t start_token(const model::ModelConfig& model) {
  const int32_t token = model.bos_id >= 0 ? model.bos_id : model.eos_id;
  require(token >= 0, "the model has neither bos_token_id nor eos_token_id, expected one of them");
  return token;
}

}  // namespace

CausalTask::CausalTask(const TrainConfig& config, const std::filesystem::path& start,
                       const Say& say)
    : CausalTask(config, start, read_text(config.data), say) {}

CausalTask::CausalTask(const TrainConfig& config, const std::filesystem::path& start,
                       const RawText& text, const Say& say)
    : Task(config.model),
      named_(prepare_tokenizer(config, start, text.train, {.begin = true}, model_, say)) {
  std::vector<int32_t> suffix;
  if (model_.eos_id >= 0) suffix.push_back(model_.eos_id);
  TokenText tokens = tokenize(text, named_.tokenizer, suffix, config.window_tokens(), config, say);
  const int32_t first = start_token(model_);
  train_ = std::make_unique<data::CausalSet>(tokens.documents, std::move(tokens.train), first);
  valid_ = std::make_unique<data::CausalSet>(tokens.documents, std::move(tokens.valid), first);
}

void CausalTask::judge(const model::Transformer&, DType, ValidationRecord&) const {}

}  // namespace heed::train

#include "heed/engine/speculation.h"

#include "heed/base/error.h"
#include "heed/engine/load.h"
#include "heed/generate/cached_decoder.h"
#include "heed/generate/speculation/model_drafts.h"
#include "heed/generate/speculation/ngram_drafts.h"
#include "heed/generate/speculation/speculation.h"
#include "heed/hub.h"

namespace heed::engine {
namespace {

/// Token ids mean the same in both.
bool same_tokens(const text::Tokenizer& a, const text::Tokenizer& b) {
  if (a.vocab_size() != b.vocab_size()) return false;
  for (int64_t i = 0; i < a.vocab_size(); ++i)
    if (a.piece(static_cast<int32_t>(i)) != b.piece(static_cast<int32_t>(i))) return false;
  return true;
}

std::unique_ptr<const model::Transformer> load_draft(LoadedModel& target) {
  const SpeculationOptions& options = target.options.speculation;
  const io::ModelFiles files(resolve_model(options.draft, target.options.hub));
  const std::filesystem::path& path = files.path();
  LoadOptions load{.weights = options.draft_weights, .weight_cache = target.options.weight_cache};
  checkpoint::OpenedModel opened = open_model(files, load);
  if (target.device) load = options_on_device(opened, load);
  target.draft_activations = activation_dtype(load);
  auto draft = load_transformer(std::move(opened), path, load, target.device);
  require(!target.transformer->has_encoder() && !draft->has_encoder(),
          "{} cannot draft for {}: one of them has an encoder", path.string(),
          target.path.string());
  const text::ModelTokenizer tokenizer = read_tokenizer(files);
  require(same_tokens(shared_tokenizer(path, tokenizer, "drafting"),
                      target.shared_tokenizer("generation")),
          "{} cannot draft for {}: their tokenizers differ", path.string(), target.path.string());
  return draft;
}

}  // namespace

void prepare_speculation(LoadedModel& model) {
  const SpeculationOptions& options = model.options.speculation;
  if (!options.draft.empty()) model.draft = load_draft(model);
  if (model.draft || options.ngram)
    model.draft_lengths = std::make_shared<generate::DraftLengths>(
        model.draft ? generate::ModelDrafts::kAcceptances : generate::NgramDrafts::kAcceptances);
}

std::shared_ptr<generate::Drafter> make_drafter(const LoadedModel& model,
                                                int64_t max_cached_tokens) {
  if (!model.draft_lengths) return nullptr;
  std::unique_ptr<generate::DraftSource> source;
  if (!model.draft)
    source = std::make_unique<generate::NgramDrafts>();
  else
    source = std::make_unique<generate::ModelDrafts>(
        *model.draft,
        generate::ModelDraftsOptions{.dtype = model.draft_activations,
                                     .cache = {.dtype = generate::default_cache_dtype(
                                                   *model.draft, model.draft_activations)},
                                     .vocab_size = model.transformer->config().vocab_size,
                                     .max_cached_tokens = max_cached_tokens});
  return std::make_shared<generate::Speculation>(std::move(source), model.draft_lengths);
}

}  // namespace heed::engine

#include "heed/tasks/embedder.h"

#include <algorithm>
#include <cmath>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/data/batch.h"
#include "heed/data/inference_batches.h"
#include "heed/ops/elementwise.h"
#include "heed/tasks/hidden_states.h"
#include "heed/tasks/modules/pooling.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

/// Smallest number of tokens of a batch that one thread computes alone.
constexpr int64_t kMinEmbeddedTokens = 128;

bool pools_by_pooler(const EmbedderOptions& options) {
  return std::ranges::find(options.pooling, Pooling::pooler) != options.pooling.end();
}

Tensor after(const VectorModules& modules, Tensor x) {
  for (const auto& module : modules) x = module->forward(x);
  return x;
}

/// The first `width` columns.
Tensor first_columns(const Tensor& x, int64_t width) {
  if (width == x.cols()) return x;
  Tensor y = Tensor::empty({x.rows(), width});
  for (int64_t row = 0; row < x.rows(); ++row)
    std::copy_n(x.data<float>() + row * x.cols(), width, y.data<float>() + row * width);
  return y;
}

}  // namespace

int64_t EmbedderOptions::width(int64_t d_model) const {
  const int64_t pooled = width_after(of_tokens, d_model) * std::ssize(pooling);
  const int64_t whole = width_after(of_texts, pooled);
  return truncate_dim == 0 ? whole : std::min(whole, truncate_dim);
}

std::string EmbedderOptions::prompt_named(const std::string& name) const {
  if (const auto found = prompts.find(name); found != prompts.end()) return found->second;
  std::string known;
  for (const auto& [one, text] : prompts)
    known += fmt::format("{}{}", known.empty() ? "" : ", ", quoted(one));
  require_input(name == "query" || name == "document",
                "prompt_name is {}; the prompts of the model's files are: {}", quoted(name),
                known.empty() ? "none" : known);
  return "";
}

void EmbedderOptions::apply(const EmbedOptions& asked, int64_t d_model) {
  require_input(!asked.prompt || !asked.prompt_name,
                "both prompt and prompt_name are given, expected one of them");
  if (asked.prompt_name) prompt = prompt_named(*asked.prompt_name);
  prompt = asked.prompt.value_or(prompt);
  if (asked.pooling) pooling = {*asked.pooling};
  if (asked.normalize) {
    normalize = *asked.normalize;
    while (!normalize && normalizes()) of_texts.pop_back();
  }
  if (asked.dimensions) {
    truncate_dim = 0;
    const int64_t whole = width(d_model);
    require_input(*asked.dimensions <= whole, "dimensions is {}, expected 1 to {}: a vector's size",
                  *asked.dimensions, whole);
    truncate_dim = *asked.dimensions;
  }
  max_seq_length = asked.max_seq_length.value_or(max_seq_length);
  batch_tokens = asked.batch_tokens;
}

Embedder::Embedder(const model::Transformer& model, text::Tokenizer tokenizer,
                   EmbedderOptions options)
    : model_(&model), tokenizer_(std::move(tokenizer)), options_(options) {
  const model::ModelConfig& config = model.config();
  if (pools_by_pooler(options)) {
    require(config.pooler, "the model has no pooler");
    require_input(options.pooling.size() == 1 && options.of_tokens.empty(),
                  "the pooling pooler is none beside others, nor after modules of tokens");
  }
  dimension_ = options.width(config.d_model);
  require_input(options.batch_tokens >= 0, "batch_tokens is {}, expected at least 0",
                options.batch_tokens);
  const bool bounded = config.positions != model::PositionKind::none;
  require(
      options.max_seq_length >= 0 && (!bounded || options.max_seq_length <= config.max_positions),
      "max_seq_length is {}, expected at most {}: the model's context length",
      options.max_seq_length, config.max_positions);
  if (options_.max_seq_length == 0 && bounded) options_.max_seq_length = config.max_positions;
  if (!options_.include_prompt && !options_.prompt.empty()) unpooled_ = count_prompt_tokens();
}

/// Without a special token at the end, which would follow the text.
int64_t Embedder::count_prompt_tokens() const {
  const std::vector<int32_t> prompt = tokens("");
  return std::ssize(prompt) - (!prompt.empty() && tokenizer_.is_special(prompt.back()) ? 1 : 0);
}

std::string Embedder::whole_text(const std::string& text) const {
  return options_.lower_case ? lower_cased(options_.prompt + text) : options_.prompt + text;
}

std::vector<int32_t> Embedder::tokens(const std::string& text) const {
  return ids_within(tokenizer_, whole_text(text), limit());
}

int64_t Embedder::count_tokens(const std::string& text) const {
  return std::ssize(tokenizer_.encode(whole_text(text)));
}

std::vector<std::vector<int32_t>> Embedder::read(const std::vector<std::string>& texts,
                                                 int64_t first_number) const {
  std::vector<std::vector<int32_t>> all(texts.size());
  data::read_inputs("text", texts.size(), first_number, [&](size_t i) {
    all[i] = tokens(texts[i]);
    require_input(!all[i].empty(), "no tokens");
  });
  return all;
}

std::vector<std::vector<float>> Embedder::embed(const std::vector<std::string>& texts,
                                                int64_t first_number) const {
  return embed_tokens(read(texts, first_number));
}

void Embedder::embed(const std::vector<std::string>& texts, std::span<float> embeddings,
                     int64_t first_number) const {
  const auto width = static_cast<size_t>(dimension());
  require_input(embeddings.size() == texts.size() * width,
                "there is room for {} elements, expected {} for {} embeddings of {}",
                embeddings.size(), texts.size() * width, texts.size(), width);
  embed_tokens(read(texts, first_number), embeddings);
}

std::vector<std::vector<float>> Embedder::embed_tokens(
    const std::vector<std::vector<int32_t>>& texts) const {
  const int64_t width = dimension();
  std::vector<float> all(texts.size() * static_cast<size_t>(width));
  embed_tokens(texts, all);
  std::vector<std::vector<float>> embeddings;
  for (auto row = all.begin(); row != all.end(); row += width)
    embeddings.emplace_back(row, row + width);
  return embeddings;
}

void Embedder::embed_tokens(const std::vector<std::vector<int32_t>>& texts,
                            std::span<float> embeddings) const {
  std::vector<int64_t> lengths;
  for (const std::vector<int32_t>& text : texts) lengths.push_back(std::ssize(text));
  const bool on_device = model_->device() != nullptr;
  data::run_batches(
      lengths,
      {.max_per_batch = data::tokens_per_batch(options_.batch_tokens, on_device),
       .min_per_thread = kMinEmbeddedTokens,
       .on_device = on_device},
      [&](std::span<const int64_t> members) { embed_batch(texts, members, embeddings); });
}

/// The states [N, W] of texts, pooled to [B, P]. A text that is only the prompt is pooled as a
/// whole.
Tensor Embedder::pooled_texts(const Tensor& states, std::span<const int32_t> offsets) const {
  const int64_t width = states.cols(), texts = std::ssize(offsets) - 1;
  Tensor result = Tensor::empty({texts, width * std::ssize(options_.pooling)});
  for (int64_t b = 0; b < texts; ++b) {
    const int64_t begin = offsets[static_cast<size_t>(b)],
                  rows = offsets[static_cast<size_t>(b) + 1] - begin,
                  skipped = unpooled_ >= rows ? 0 : unpooled_;
    const float* const first = states.data<float>() + (begin + skipped) * width;
    std::ranges::copy(pooled(options_.pooling, {first, rows - skipped, width, skipped}),
                      result.data<float>() + b * result.cols());
  }
  return result;
}

void Embedder::embed_batch(const std::vector<std::vector<int32_t>>& texts,
                           std::span<const int64_t> members, std::span<float> embeddings) const {
  std::vector<int32_t> ids, offsets{0};
  for (const int64_t member : members)
    data::append_sequence(texts[static_cast<size_t>(member)], ids, offsets);
  Context context{.dtype = options_.dtype};
  Tensor states = hidden_states(*model_, context, {ids, offsets});  // [N, D]
  const bool by_pooler = pools_by_pooler(options_);
  if (by_pooler) states = model_->pool(context, states, offsets);  // [B, D]
  states = ops::to_f32(context, states.to(nullptr));
  if (!by_pooler) states = pooled_texts(after(options_.of_tokens, states), offsets);  // [B, P]
  Tensor vectors = first_columns(after(options_.of_texts, states), dimension_);
  if (options_.normalize) normalize_rows(vectors);
  require(std::ranges::all_of(vectors.values<float>(), [](float x) { return std::isfinite(x); }),
          "the model's output is not finite: its weights are damaged");
  for (size_t b = 0; b < members.size(); ++b)
    std::copy_n(vectors.data<float>() + static_cast<int64_t>(b) * dimension_, dimension_,
                embeddings.begin() + dimension_ * members[b]);
}

}  // namespace heed::tasks

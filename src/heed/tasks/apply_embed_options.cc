#include <algorithm>

#include "heed/base/error.h"
#include "heed/base/quote.h"
#include "heed/tasks/embedder_options.h"

namespace heed::tasks {

int64_t EmbedderOptions::whole_width(int64_t d_model) const {
  const int64_t of_a_token = width_after(of_tokens, d_model);
  return pooling.empty() ? of_a_token : width_after(of_texts, of_a_token * std::ssize(pooling));
}

int64_t EmbedderOptions::width(int64_t d_model) const {
  const int64_t whole = whole_width(d_model);
  return truncate_dim == 0 || pooling.empty() ? whole : std::min(whole, truncate_dim);
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

int64_t EmbedderOptions::length_for_task() const {
  if (!multi_vector || !task) return max_seq_length;
  if (task == EmbedTask::document) return multi_vector->document_length.value_or(max_seq_length);
  const auto& expansion = multi_vector->expansion;
  if (expansion && expansion->fixed) return expansion->length;
  if (!multi_vector->query_length) return max_seq_length;
  return expansion ? std::max(*multi_vector->query_length, expansion->length)
                   : *multi_vector->query_length;
}

void EmbedderOptions::apply(const EmbedOptions& asked, int64_t d_model) {
  require_input(!asked.prompt || !asked.prompt_name,
                "both prompt and prompt_name are given, expected one of them");
  task = asked.task;
  if (asked.prompt_name) prompt = prompt_named(*asked.prompt_name);
  if (task && !asked.prompt_name) prompt = prompt_named(std::string(name_of(*task)));
  prompt = asked.prompt.value_or(prompt);
  if (asked.pooling) pooling = {*asked.pooling};
  if (asked.normalize) {
    normalize = *asked.normalize;
    while (!normalize && normalizes()) of_texts.pop_back();
  }
  if (asked.dimensions) {
    const int64_t whole = whole_width(d_model);
    require_input(*asked.dimensions <= whole, "dimensions is {}, expected 1 to {}: a vector's size",
                  *asked.dimensions, whole);
    truncate_dim = *asked.dimensions;
  }
  require_input(!asked.window || !asked.max_seq_length,
                "both window and max_seq_length are given: long texts are read in windows or "
                "truncated");
  require_input(asked.overlap == 0 || (asked.window && asked.overlap < *asked.window),
                "overlap is {}, expected less than window, {}", asked.overlap,
                asked.window ? fmt::format("{}", *asked.window) : "which is not given");
  window = asked.window.value_or(0);
  overlap = asked.overlap;
  max_seq_length = asked.max_seq_length.value_or(length_for_task());
  batch_tokens = asked.batch_tokens;
}

}  // namespace heed::tasks

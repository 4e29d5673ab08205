#include "heed/tasks/text_reader.h"

#include <algorithm>

#include "heed/base/error.h"
#include "heed/data/inference_batches.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

/// The token that stands for the beginning of a prompt, all of it or its first word, unless the
/// tokenizer makes it of the prompt's text anyway; -1: none. `length` is that of the beginning.
int32_t prefix_token(const text::Tokenizer& tokenizer, const std::string& prefix, size_t& length) {
  for (const std::string& beginning : {prefix, prefix.substr(0, prefix.find(' '))}) {
    const auto id = tokenizer.id_of(beginning);
    if (!id || beginning.empty()) continue;
    length = beginning.size();
    return tokenizer.encode(beginning, false) == std::vector{*id} ? -1 : *id;
  }
  return -1;
}

}  // namespace

TextReader::TextReader(const model::ModelConfig& model, text::Tokenizer tokenizer,
                       const EmbedderOptions& options)
    : tokenizer_(std::move(tokenizer)),
      prompt_(options.prompt),
      lower_case_(options.lower_case),
      limit_{options.max_seq_length, options.truncate_left},
      window_(options.window),
      overlap_(options.overlap) {
  require_input(options.batch_tokens >= 0, "batch_tokens is {}, expected at least 0",
                options.batch_tokens);
  const int64_t context = context_limit(model);
  require(limit_.most >= 0 && (context == 0 || limit_.most <= context),
          "max_seq_length is {}, expected at most {}: the model's context length", limit_.most,
          context);
  if (limit_.most == 0) limit_.most = context;
  if (window_ > 0) {
    require_input(context == 0 || window_ <= context,
                  "window is {}, expected at most {}: the model's context length", window_,
                  context);
    limit_.most = 0;
    room(std::ssize(tokenizer_.encode(whole_text(""))));
  }
  if (!options.multi_vector) return;
  for (const std::string& prefix : options.multi_vector->prefixes) {
    if (prefix.empty() || !prompt_.starts_with(prefix)) continue;
    size_t length = 0;
    prefix_ = prefix_token(tokenizer_, prefix, length);
    if (prefix_ < 0) return;
    prompt_.erase(0, length);
    leading_ = tokens_within(tokenizer_, "a", {}).begin;
    return;
  }
}

std::string TextReader::whole_text(const std::string& text) const {
  return lower_case_ ? lower_cased(prompt_ + text) : prompt_ + text;
}

std::vector<int32_t> TextReader::tokens(const std::string& text) const {
  if (prefix_ < 0) return ids_within(tokenizer_, whole_text(text), limit_);
  const int64_t most = limit_.most == 0 ? 0 : std::max<int64_t>(limit_.most - 1, 1);
  std::vector<int32_t> ids = ids_within(tokenizer_, whole_text(text), {most, limit_.truncate_left});
  ids.insert(ids.begin() + std::min(leading_, std::ssize(ids)), prefix_);
  return ids;
}

int64_t TextReader::count_tokens(const std::string& text) const {
  return std::ssize(tokenizer_.encode(whole_text(text))) + (prefix_ < 0 ? 0 : 1);
}

std::vector<std::vector<int32_t>> TextReader::read(const std::vector<std::string>& texts,
                                                   int64_t first_number) const {
  std::vector<std::vector<int32_t>> all(texts.size());
  data::read_inputs("text", texts.size(), first_number, [&](size_t i) {
    all[i] = tokens(texts[i]);
    require_input(!all[i].empty(), "no tokens");
  });
  return all;
}

int64_t TextReader::count_prompt_tokens() const {
  const std::vector<int32_t> prompt = tokens("");
  return std::ssize(prompt) - (!prompt.empty() && tokenizer_.is_special(prompt.back()) ? 1 : 0);
}

}  // namespace heed::tasks

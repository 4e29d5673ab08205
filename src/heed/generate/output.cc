#include "heed/generate/output.h"

#include <algorithm>
#include <cmath>

namespace heed::generate {
namespace {

/// Number of tokens at the end of the prompt that are decoded before the output, so that the text
/// of the output is the same as within the whole text.
constexpr size_t kContext = 8;

double log_sum_exp(std::span<const float> logits) {
  const double largest = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - largest);
  return largest + std::log(sum);
}

}  // namespace

Output::Output(const GeneratorOptions& options, const std::optional<text::Tokenizer>& tokenizer,
               std::span<const int32_t> prompt, uint64_t number, int64_t max_new_tokens)
    : options_(options),
      prompt_(prompt),
      number_(number),
      max_new_tokens_(max_new_tokens),
      stop_(options.stop) {
  counts_.add_prompt(prompt);
  if (!tokenizer) return;
  decoded_.emplace(*tokenizer, options.skip_special_tokens);
  for (const int32_t token : prompt.last(std::min(prompt.size(), kContext))) decoded_->feed(token);
}

void Output::record_log_probabilities(std::span<const float> logits, int32_t chosen) {
  const double log_sum = log_sum_exp(logits);
  const auto of = [&](int32_t token) {
    return TokenLogProbability{token,
                               static_cast<double>(logits[static_cast<size_t>(token)]) - log_sum};
  };
  result_.chosen.push_back(of(chosen));
  std::vector<int32_t> order(logits.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  const auto wanted = std::min(order.size(), static_cast<size_t>(options_.top_log_probabilities));
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(wanted), order.end(),
                    [&](int32_t a, int32_t b) {
                      const float x = logits[static_cast<size_t>(a)];
                      const float y = logits[static_cast<size_t>(b)];
                      return x != y ? x > y : a < b;
                    });
  auto& best = result_.best.emplace_back();
  for (size_t i = 0; i < wanted; ++i) best.push_back(of(order[i]));
}

void Output::advance(Tensor& row) {
  const std::span<float> logits(row.data<float>(), static_cast<size_t>(row.cols()));
  std::vector<float> unadjusted;
  const bool recorded = options_.top_log_probabilities >= 0;
  if (recorded) unadjusted.assign(logits.begin(), logits.end());
  adjust_logits(options_.sampling, counts_, logits);
  const int32_t token = sample_token(options_.sampling, logits, number_, path_.tokens.size());
  if (std::find(options_.eos_ids.begin(), options_.eos_ids.end(), token) != options_.eos_ids.end())
    return finish(FinishReason::stop);
  path_.tokens.push_back(token);
  counts_.add_output(token);
  if (recorded) record_log_probabilities(unadjusted, token);
  if (decoded_) add_text(decoded_->feed(token));
  if (stop_.found()) return finish(FinishReason::stop);
  if (static_cast<int64_t>(path_.tokens.size()) >= max_new_tokens_) finish(FinishReason::length);
}

void Output::finish(FinishReason reason) {
  ended_ = true;
  result_.tokens = path_.tokens;
  if (decoded_) add_text(decoded_->finish());
  result_.finish_reason = stop_.found() ? FinishReason::stop : reason;
  result_.stop_string = stop_.found();
  const std::string rest = stop_.finish();
  new_text_ += rest;
  result_.text += rest;
}

void Output::add_text(const std::string& text) {
  const std::string certain = stop_.feed(text);
  new_text_ += certain;
  result_.text += certain;
}

}  // namespace heed::generate

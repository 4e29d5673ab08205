#include "heed/serve/classify_call.h"

#include <fmt/format.h>

#include <memory>
#include <numeric>
#include <utility>

#include "heed/base/interrupt.h"
#include "heed/serve/classified_tokens.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"

namespace heed::serve {
namespace {

/// The inputs that are being classified.
struct ClassifiedCall {
  std::vector<ClassifyInput> inputs;
  OnClassified done;
  int64_t tokens = 0;
  std::vector<std::vector<LabelScore>> labels = {};

  /// Classifies inputs [begin, end), on the compute thread.
  void classify_part(const Model& model, size_t begin, size_t end) {
    const auto first = inputs.begin() + static_cast<std::ptrdiff_t>(begin);
    const auto last = inputs.begin() + static_cast<std::ptrdiff_t>(end);
    for (std::vector<LabelScore>& one : model.classify_batch({first, last}))
      labels.push_back(std::move(one));
    if (labels.size() == inputs.size()) done(labels, tokens);
  }
};

/// Cuts an input if it may be cut, and returns how many tokens the model reads of it.
int64_t read_input(const Model& model, const Tokenizer& tokenizer, ClassifyInput& input,
                   bool truncate, const std::string& field) {
  const auto prepare = [&](std::string& text) {
    if (truncate)
      text = without_unread_end(model, tokenizer, std::move(text));
    else
      refuse_overlong_text(model, text, field);
  };
  if (auto* const pair = std::get_if<TextPair>(&input)) {
    prepare(pair->first);
    prepare(pair->second);
  } else {
    prepare(std::get<std::string>(input));
  }
  return tokens_read(model, model.count_tokens_to_classify(input), truncate, field);
}

}  // namespace

void classify(const ModelCall& call, std::vector<ClassifyInput> inputs, bool truncate,
              const std::string& field, OnClassified done) {
  require_task(call.target, call.target.tasks.classify, "classify");
  check_list_length(inputs.size(), field);
  const auto state = std::make_shared<ClassifiedCall>(
      ClassifiedCall{.inputs = std::move(inputs), .done = std::move(done)});
  const Model& model = call.model();
  const Tokenizer tokenizer = model.tokenizer("classification");
  std::vector<int64_t> tokens;
  for (ClassifyInput& input : state->inputs) {
    check_interrupted();
    const std::string place = fmt::format("{}[{}]", field, tokens.size());
    tokens.push_back(read_input(model, tokenizer, input, truncate, place));
  }
  state->tokens = std::reduce(tokens.begin(), tokens.end());
  call.call->enqueue(call.services.admission, state->tokens);
  call.target.model->run_in_parts(call.call, tokens,
                                  [state, served = call.target.model](size_t begin, size_t end) {
                                    state->classify_part(served->model(), begin, end);
                                  });
}

}  // namespace heed::serve

// OpenAI's text completions: https://platform.openai.com/docs/api-reference/completions
#include <algorithm>
#include <optional>

#include "heed/generate/generate_options.h"
#include "heed/serve/completion_tokens.h"
#include "heed/serve/fields/sampling_fields.h"
#include "heed/serve/fields/structured_output_fields.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// A prompt, and what its answers repeat of it.
struct EchoedPrompt {
  std::string text;
  std::optional<EchoedTokens> tokens;  // if they are to be scored
};

class CompletionCall : public GenerationCall {
 public:
  CompletionCall(const ModelCall& call, StreamFields stream, const GenerateOptions& options,
                 std::vector<EchoedPrompt> prompts)
      : GenerationCall(call), stream_(stream), options_(options), prompts_(std::move(prompts)) {}

  /// The requests of a prompt follow each other. Scores the prompts first, if they are to be
  /// scored; generates nothing if no token is asked for.
  void start(std::vector<Request> requests, std::vector<int64_t> tokens) {
    requests_ = std::move(requests);
    tokens_ = std::move(tokens);
    choices_ = std::vector<Choice>(requests_.size(),
                                   Choice(CompletionTokens(model(), options_.skip_special_tokens)));
    enqueue(tokens_, "prompt", options_.max_new_tokens == 0 ? 0 : 1);
    unscored_ =
        std::ranges::count_if(prompts_, [](const auto& one) { return one.tokens.has_value(); });
    if (unscored_ == 0) return generate();
    const auto self = std::static_pointer_cast<CompletionCall>(shared_from_this());
    for (size_t i = 0; i < prompts_.size(); ++i)
      served().run(shared_call(), take_tokens(i), [self, i] {
        self->score(*self->prompts_[i].tokens);
        if (--self->unscored_ == 0) self->generate();
      });
  }

 private:
  struct Choice {
    explicit Choice(CompletionTokens own_tokens) : tokens(std::move(own_tokens)) {}

    CompletionTokens tokens;
    std::string text;
    Json log_probabilities;  // null without
    Json finish_reason;      // null until it has ended
    int64_t generated = 0;   // tokens
    bool begun = false;
  };

  size_t choices_of_prompt() const { return choices_.size() / prompts_.size(); }
  const EchoedPrompt& prompt_of(size_t choice) const {
    return prompts_[choice / choices_of_prompt()];
  }

  /// The tokens that wait for all requests of a prompt, which then wait no longer.
  int64_t take_tokens(size_t prompt) {
    int64_t sum = 0;
    for (size_t i = 0; i < choices_of_prompt(); ++i)
      sum += std::exchange(tokens_[prompt * choices_of_prompt() + i], 0);
    return sum;
  }

  void score(EchoedTokens& prompt) const {
    prompt.scores = model().score_tokens(prompt.tokens, options_.top_log_probabilities);
  }

  void generate() {
    if (options_.max_new_tokens != 0) return add(std::move(requests_), tokens_);
    for (size_t i = 0; i < choices_.size(); ++i) {
      begin(i);
      choices_[i].finish_reason = name_of(FinishReason::length);
      report(i);
    }
    on_end();
  }

  /// Lets a choice begin with what it repeats of its prompt.
  void begin(size_t i) {
    Choice& choice = choices_[i];
    if (std::exchange(choice.begun, true)) return;
    const EchoedPrompt& prompt = prompt_of(i);
    choice.text = prompt.text;
    if (prompt.tokens) choice.tokens.add(*prompt.tokens);
  }

  Json choice_json(size_t i) const {
    const Choice& choice = choices_[i];
    return {{"text", choice.text},
            {"index", i},
            {"logprobs", choice.log_probabilities},
            {"finish_reason", choice.finish_reason}};
  }

  Json chunk(Json choices) const {
    return completion("cmpl", "text_completion", std::move(choices));
  }

  void on_accepted() override {
    if (stream_.stream) call().begin_events();
  }

  void on_delta(size_t i, const Delta& delta) override {
    begin(i);
    Choice& choice = choices_[i];
    choice.text += delta.text;
    choice.generated += std::ssize(delta.tokens);
    for (size_t k = 0; k < delta.chosen.size(); ++k)
      choice.tokens.add(delta.chosen[k], delta.best[k]);
    if (delta.generation) {
      // Whoever scores a prompt counts on a token for max_tokens: 1.
      const auto& end = delta.generation->end_token;
      if (end && prompt_of(i).tokens) choice.tokens.add(*end, delta.generation->best_at_end);
      choice.finish_reason = name_of(delta.generation->finish_reason);
    }
    report(i);
  }

  /// Sends what a choice has; without a stream, keeps it.
  void report(size_t i) {
    Choice& choice = choices_[i];
    const Json lists = choice.tokens.take();
    if (!stream_.stream) {
      if (choice.log_probabilities.is_null())
        choice.log_probabilities = lists;
      else if (!lists.is_null())
        for (const auto& [name, list] : lists.items())
          for (const Json& value : list) choice.log_probabilities[name].push_back(value);
      return;
    }
    if (choice.text.empty() && lists.is_null() && choice.finish_reason.is_null()) return;
    choice.log_probabilities = lists;
    call().begin_events();
    call().send_json_event(chunk(Json::array({choice_json(i)})));
    choice.text.clear();
  }

  void on_end() override {
    int64_t tokens = 0;
    for (const Choice& choice : choices_) tokens += choice.generated;
    if (stream_.stream) return end_stream(stream_, chunk(Json::array()), tokens);
    Json list = Json::array();
    for (size_t i = 0; i < choices_.size(); ++i) list.push_back(choice_json(i));
    respond_with_usage(chunk(std::move(list)), tokens);
  }

  const StreamFields stream_;
  const GenerateOptions options_;
  std::vector<EchoedPrompt> prompts_;
  std::vector<Request> requests_;
  std::vector<int64_t> tokens_;  // that wait, for each request
  std::vector<Choice> choices_;
  int64_t unscored_ = 0;  // prompts
};

/// Throws ApiError unless the model can score a prompt.
void require_scores(const ModelCall& call) {
  if (call.model().has_encoder())
    throw invalid_request("echo", "echo with logprobs needs a decoder-only model");
  if (call.target.adapters)
    throw invalid_request("echo", "echo with logprobs is not offered with adapters");
}

/// Makes prompts of texts that stand before a gap, which this suffix follows.
void put_before(const Model& model, std::vector<TokenizedText>& prompts,
                const std::string& suffix) {
  for (TokenizedText& prompt : prompts) {
    if (!prompt.text)
      throw invalid_request("suffix", "suffix needs a prompt that is a text, not tokens");
    prompt.tokens =
        fill_in_middle_tokens(model, {.prefix = *prompt.text, .suffix = suffix}, "suffix");
  }
}

}  // namespace

void post_completions(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.generate, "generate");
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  const auto keep = read_kept_tokens(fields, model);
  std::vector<TokenizedText> prompts = read_texts_or_tokens(
      fields, "prompt", model, [&](const std::string& text, const std::string& field) {
        if (!keep) refuse_overlong_text(model, text, field);
        return model.prompt_tokens(text);
      });
  GenerateOptions options = read_sampling(call, fields, 0);
  options.top_log_probabilities = static_cast<int>(
      fields.integer("logprobs", 0, generate::GenerateOption::top_log_probabilities.served.max)
          .value_or(-1));
  options.structured_output = read_structured_output(call, fields);
  const int64_t n = read_n(fields);
  const StreamFields stream = read_stream(fields);
  const bool echo = fields.boolean("echo").value_or(false);
  const bool scored = echo && options.top_log_probabilities >= 0;
  if (scored) require_scores(call);
  fields.only("best_of", n);
  if (const std::string suffix = fields.text("suffix").value_or(""); !suffix.empty()) {
    if (scored || keep)
      throw invalid_request("suffix",
                            "suffix is not offered with echo and logprobs, nor with "
                            "truncate_prompt_tokens");
    put_before(model, prompts, suffix);
  }
  fields.end();

  for (TokenizedText& prompt : prompts)
    if (keep && keep_last_tokens(prompt.tokens, *keep)) prompt.text.reset();

  std::vector<Request> requests;
  std::vector<int64_t> tokens;
  std::vector<EchoedPrompt> echoed(prompts.size());
  for (size_t k = 0; k < prompts.size(); ++k) {
    const TokenizedText& prompt = prompts[k];
    for (int64_t i = 0; i < n; ++i) {
      requests.push_back({.prompt = prompt.tokens, .options = options, .number = i + 1});
      tokens.push_back(std::ssize(prompt.tokens));
    }
    if (!echo) continue;
    echoed[k].text = prompt.text ? *prompt.text : model.detokenize(prompt.tokens, false);
    if (scored) echoed[k].tokens = echoed_tokens(model, prompt, echoed[k].text);
  }
  std::make_shared<CompletionCall>(call, stream, options, std::move(echoed))
      ->start(std::move(requests), std::move(tokens));
}

}  // namespace heed::serve

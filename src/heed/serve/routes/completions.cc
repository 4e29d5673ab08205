// OpenAI's text completions: https://platform.openai.com/docs/api-reference/completions
#include "heed/base/json.h"
#include "heed/engine/loaded_model.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/sampling_fields.h"

namespace heed::serve {
namespace {

class CompletionCall : public GenerationCall {
 public:
  CompletionCall(const ModelCall& call, StreamFields stream, bool echo,
                 std::vector<std::string> prompts)
      : GenerationCall(call), stream_(stream), echo_(echo), prompts_(std::move(prompts)) {}

  void start(std::vector<Request> requests, const std::vector<int64_t>& tokens) {
    choices_.resize(requests.size());
    GenerationCall::start(std::move(requests), tokens, "prompt");
  }

 private:
  struct Choice {
    std::string text;
    Json log_probabilities;  // null without
    Json finish_reason;      // null until it has ended
    int64_t tokens = 0;
    int64_t offset = 0;  // of the next token in the text
    bool echoed = false;
  };

  /// Log-probabilities in the form of text completions: parallel lists.
  Json log_probabilities(Choice& choice, const Delta& delta) const {
    Json lists = {{"tokens", Json::array()},
                  {"token_logprobs", Json::array()},
                  {"top_logprobs", Json::array()},
                  {"text_offset", Json::array()}};
    for (size_t i = 0; i < delta.chosen.size(); ++i) {
      const std::string text = model().token_text(delta.chosen[i].token);
      Json best = Json::object();
      for (const TokenLogProbability& one : delta.best[i])
        best[model().token_text(one.token)] = one.log_probability;
      lists["tokens"].push_back(text);
      lists["token_logprobs"].push_back(delta.chosen[i].log_probability);
      lists["top_logprobs"].push_back(std::move(best));
      lists["text_offset"].push_back(choice.offset);
      choice.offset += std::ssize(text);
    }
    return lists;
  }

  Json choice_json(size_t i, const std::string& text, const Json& log_probabilities) const {
    return {{"text", text},
            {"index", i},
            {"logprobs", log_probabilities},
            {"finish_reason", choices_[i].finish_reason}};
  }

  Json frame(Json choices) const {
    return {{"id", id("cmpl")},
            {"object", "text_completion"},
            {"created", created()},
            {"model", model_name()},
            {"choices", std::move(choices)}};
  }

  void on_delta(size_t i, const Delta& delta) override {
    Choice& choice = choices_[i];
    std::string text(delta.text);
    if (echo_ && !std::exchange(choice.echoed, true)) text.insert(0, prompts_[i]);
    const Json lists = delta.chosen.empty() ? Json() : log_probabilities(choice, delta);
    choice.tokens += std::ssize(delta.tokens);
    if (delta.generation) choice.finish_reason = name_of(delta.generation->finish_reason);
    if (stream_.stream) {
      if (text.empty() && lists.is_null() && !delta.generation) return;
      call().begin_events();
      call().send_event(
          dump_json(frame(Json::array({choice_json(i, text, lists)})), {.replace_invalid = true}));
      return;
    }
    choice.text += text;
    if (lists.is_null()) return;
    if (choice.log_probabilities.is_null()) choice.log_probabilities = Json::object();
    for (const auto& [name, list] : lists.items())
      for (const Json& value : list) choice.log_probabilities[name].push_back(value);
  }

  void on_end() override {
    int64_t tokens = 0;
    for (const Choice& choice : choices_) tokens += choice.tokens;
    if (stream_.stream) {
      if (stream_.include_usage) {
        Json last = frame(Json::array());
        last["usage"] = usage(tokens);
        call().send_event(dump_json(last));
      }
      call().send_event("[DONE]");
      return call().end_events();
    }
    Json list = Json::array();
    for (size_t i = 0; i < choices_.size(); ++i)
      list.push_back(choice_json(i, choices_[i].text, choices_[i].log_probabilities));
    Json whole = frame(std::move(list));
    whole["usage"] = usage(tokens);
    call().respond_json(dump_json(whole, {.replace_invalid = true}));
  }

  const StreamFields stream_;
  const bool echo_;
  const std::vector<std::string> prompts_;  // of each choice, if they are echoed
  std::vector<Choice> choices_;
};

}  // namespace

void post_completions(const ModelCall& call) {
  const Model& model = call.target.model->model();
  require_task(call.target, call.target.tasks.generate, "generate");
  JsonFields fields(call.body);
  fields.ignore({"model", "user"});
  const engine::LoadedModel& loaded = engine::loaded(model);
  const std::vector<TokenizedText> prompts = read_texts_or_tokens(
      fields, "prompt", model, [&](const std::string& text) { return loaded.tokens_of(text); });
  GenerateOptions options = read_sampling(fields, model);
  options.top_log_probabilities =
      static_cast<int>(fields.integer("logprobs", 0, kMaxLogProbabilities).value_or(-1));
  const int64_t n = read_n(fields);
  const StreamFields stream = read_stream(fields);
  const bool echo = fields.boolean("echo").value_or(false);
  if (echo && options.top_log_probabilities >= 0)
    throw invalid_request("echo", "echo cannot be combined with logprobs: use /v1/score");
  fields.only("best_of", n);
  fields.only("suffix", "");
  fields.refuse_others();

  std::vector<Request> requests;
  std::vector<int64_t> tokens;
  std::vector<std::string> echoed;
  for (const TokenizedText& prompt : prompts) {
    for (int64_t i = 0; i < n; ++i) {
      requests.push_back({.prompt = prompt.tokens, .options = options, .number = i + 1});
      tokens.push_back(std::ssize(prompt.tokens));
      if (echo)
        echoed.push_back(prompt.text ? *prompt.text : model.detokenize(prompt.tokens, false));
    }
  }
  std::make_shared<CompletionCall>(call, stream, echo, std::move(echoed))
      ->start(std::move(requests), tokens);
}

}  // namespace heed::serve

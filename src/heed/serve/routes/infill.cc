// Filling in the middle as llama.cpp's server has it:
// https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md
#include "heed/serve/fields/sampling_fields.h"
#include "heed/serve/fields/structured_output_fields.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

class InfillCall : public GenerationCall {
 public:
  InfillCall(const ModelCall& call, bool stream) : GenerationCall(call), stream_(stream) {}

 private:
  void on_accepted() override {
    if (stream_) call().begin_events();
  }

  void on_delta(size_t /*i*/, const Delta& delta) override {
    tokens_ += std::ssize(delta.tokens);
    if (delta.generation) {
      finish_reason_ = delta.generation->finish_reason;
      stop_string_ = delta.generation->stop_string;
    }
    if (!stream_) {
      content_ += delta.text;
    } else if (!delta.text.empty()) {
      call().send_json_event({{"index", 0}, {"content", delta.text}, {"stop", false}});
    }
  }

  void on_end() override {
    const char* const stop_type = finish_reason_ == FinishReason::length ? "limit"
                                  : stop_string_                         ? "word"
                                                                         : "eos";
    Json answer = {{"index", 0},
                   {"content", content_},
                   {"stop", true},
                   {"model", model_name()},
                   {"tokens_predicted", tokens_},
                   {"tokens_evaluated", prompt_tokens()},
                   {"truncated", false},
                   {"stop_type", stop_type},
                   {"stopping_word", stop_string_.value_or("")}};
    if (!seed().is_null()) answer["seed"] = seed();
    if (!stream_) return call().respond_json(answer);
    call().send_json_event(answer);
    call().end_events();
  }

  const bool stream_;
  std::string content_;
  int64_t tokens_ = 0;
  FinishReason finish_reason_ = FinishReason::length;
  std::optional<std::string> stop_string_;
};

text::TextWithGap read_text_with_gap(JsonFields& fields) {
  text::TextWithGap text{.prefix = fields.required_text("input_prefix"),
                         .suffix = fields.required_text("input_suffix"),
                         .middle = fields.text("prompt").value_or("")};
  const Json* const files = fields.find("input_extra");
  if (!files) return text;
  if (!files->is_array()) throw invalid_request("input_extra", "input_extra is not a list");
  for (size_t i = 0; i < files->size(); ++i) {
    JsonFields file = fields.inner((*files)[i], fmt::format("input_extra[{}]", i));
    text.files.emplace_back(file.text("filename").value_or("tmp"), file.required_text("text"));
    file.ignore({"time"});
    file.end();
  }
  return text;
}

/// What editors send and heed cannot follow, because an answer depends neither on time nor on the
/// order of samplers: named as ignored, and removed.
Json without_ignored(const ModelCall& call) {
  Json body = call.body;
  const JsonFields fields = call.fields();
  for (const char* name : {"samplers", "t_max_predict_ms", "t_max_prompt_ms", "n_indent"})
    if (const auto found = body.find(name); found != body.end()) {
      if (!found->is_null()) fields.report_ignored(name);
      body.erase(name);
    }
  return body;
}

}  // namespace

void post_infill(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.generate, "generate");
  const Json body = without_ignored(call);
  JsonFields fields = call.fields().inner(body, "");
  fields.ignore({"model", "response_fields"});
  fields.ignore({"samplers", "t_max_predict_ms", "t_max_prompt_ms", "n_indent"});
  const text::TextWithGap text = read_text_with_gap(fields);
  std::vector<int32_t> prompt = fill_in_middle_tokens(model, text, "input_suffix");
  GenerateOptions options = read_sampling(call, fields);
  options.structured_output = read_structured_output(call, fields);
  const bool stream = fields.boolean("stream").value_or(false);
  fields.end();
  const std::vector<int64_t> tokens{std::ssize(prompt)};
  std::make_shared<InfillCall>(call, stream)
      ->start({{.prompt = std::move(prompt), .options = options}}, tokens, "input_prefix");
}

}  // namespace heed::serve

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heed/serve/services.h"
#include "heed/session.h"

namespace heed::serve {

/// "stream" and "stream_options".
struct StreamFields {
  bool stream = false, include_usage = false;
};
StreamFields read_stream(JsonFields& fields);

/// "usage" of an answer, as OpenAI has it.
Json usage_json(int64_t prompt_tokens);
/// "usage" of a generated answer.
Json usage_json(int64_t prompt_tokens, int64_t completion_tokens);

/// A call with an output for each of its requests of a Session. An exception of its functions
/// becomes the response.
class GenerationCall : public std::enable_shared_from_this<GenerationCall> {
 public:
  GenerationCall(const ModelCall& call);
  virtual ~GenerationCall() = default;

  /// Adds the requests; `tokens[i]` are those of the prompt of request i. Throws ApiError when too
  /// much waits, or when a prompt is longer than the model's context; `param` names the field of
  /// the prompts.
  void start(std::vector<Request> requests, const std::vector<int64_t>& tokens,
             const std::string& param);
  /// The two parts of start(): counts the tokens of the inputs in the queue, then adds the
  /// requests. The prompt of a decoder must leave room for `output` tokens.
  void enqueue(const std::vector<int64_t>& tokens, const std::string& param, int64_t output = 1);
  void add(std::vector<Request> requests, const std::vector<int64_t>& tokens);

 protected:
  // Called on the compute thread:

  /// The requests wait for their turn: a response in parts begins.
  virtual void on_accepted() {}
  /// Output i has grown; the last delta has the whole output.
  virtual void on_delta(size_t i, const Delta& delta) = 0;
  /// All outputs have ended.
  virtual void on_end() = 0;

  Call& call() { return *call_; }
  const std::shared_ptr<Call>& shared_call() const { return call_; }
  ServedModel& served() const { return *target_.model; }
  const Model& model() const { return target_.model->model(); }
  const std::string& model_name() const { return target_.name; }
  int64_t prompt_tokens() const { return prompt_tokens_; }
  int64_t created() const { return created_; }
  /// The seed of the outputs, if they are sampled; or null.
  Json seed() const { return seed_ ? Json(*seed_) : Json(); }
  /// "cmpl-1f-3": `prefix` and the id of the request.
  std::string id(const char* prefix) const;
  /// A completion of OpenAI's API, or a chunk of a streamed one.
  Json completion(const char* id_prefix, const char* object, Json choices) const;
  /// Responds with a completion, which gets its usage.
  void respond_with_usage(Json completion, int64_t completion_tokens);
  /// Ends a streamed completion: with `chunk`, which gets the usage, if the request asks for it.
  void end_stream(const StreamFields& stream, Json chunk, int64_t completion_tokens);

 private:
  const std::shared_ptr<Call> call_;
  Admission& admission_;
  const ModelRegistry::Target target_;
  const int64_t created_;
  std::optional<uint64_t> seed_;
  int64_t prompt_tokens_ = 0;
  size_t running_ = 0;
};

/// Throws ApiError 400 unless the model can do it: `can` of its tasks, called `what` ("chat").
void require_task(const ModelRegistry::Target& target, bool can, const char* what);

}  // namespace heed::serve

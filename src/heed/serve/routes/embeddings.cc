// OpenAI's embeddings: https://platform.openai.com/docs/api-reference/embeddings, with the fields
// that Voyage (https://docs.voyageai.com/reference/embeddings-api) and Jina
// (https://api.jina.ai/redoc) add to them.
#include "heed/base/json.h"
#include "heed/serve/embedding_call.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/embedding_fields.h"
#include "heed/serve/routes/retrieval_fields.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

/// The vectors of a call, as they are asked for.
struct Embeddings {
  VectorForm form = {};
  std::vector<std::string> vectors = {};  // as JSON

  void add(size_t number, std::vector<float> vector) {
    vectors[number] = dump_json(form.json(std::move(vector)));
  }

  std::string response(const std::string& model, int64_t tokens) const {
    std::string body = R"({"object":"list","data":[)";
    for (size_t i = 0; i < vectors.size(); ++i)
      body += fmt::format(R"({}{{"object":"embedding","index":{},"embedding":{}}})",
                          i == 0 ? "" : ",", i, vectors[i]);
    return body + fmt::format(R"(],"model":{},"usage":{}}})", dump_json(Json(model)),
                              dump_json(usage_json(tokens)));
  }
};

/// "encoding_format" of OpenAI and Voyage, "output_dtype" of Voyage, and "embedding_type" of Jina,
/// which is both.
VectorForm read_form(JsonFields& fields, const ModelCall& call) {
  const Model& model = call.model();
  const std::string encoding = fields.one_of("encoding_format", {"float", "base64"}),
                    dtype = fields.one_of("output_dtype",
                                          {"float", "int8", "uint8", "binary", "ubinary"}),
                    type = fields.one_of("embedding_type",
                                         {"float", "base64", "int8", "uint8", "binary", "ubinary"});
  if (dtype != "float" && type != "float" && type != "base64" && type != dtype)
    throw invalid_request("embedding_type",
                          fmt::format("embedding_type is {}, and output_dtype {}", type, dtype));
  VectorForm form{.precision = precision_named(dtype != "float" ? dtype : type),
                  .base64 = encoding == "base64" || type == "base64"};
  const char* const name = fields.find("output_dimension") ? "output_dimension" : "dimensions";
  form.dimensions = read_dimensions(fields, name, model);
  if (fields.find("output_dimension")) fields.only("dimensions", Json());
  form.normalize = read_normalize(fields, "normalized", model);
  set_ranges(form, call, dtype != "float" ? "output_dtype" : "embedding_type");
  return form;
}

/// What stands before each text, by Voyage's or Jina's name for what it is for.
std::string read_purpose(JsonFields& fields, const Model& model) {
  const std::string of_voyage = read_text_purpose(fields, "input_type", model);
  const std::string of_jina = read_text_purpose(fields, "task", model);
  return fields.find("input_type") ? of_voyage : of_jina;
}

}  // namespace

void post_embeddings(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.embed, "embed");
  JsonFields fields = call.fields();
  fields.ignore({"model", "user"});
  if (fields.find("truncation")) call.call->error_body = detail_error_body;
  const bool truncate = read_truncate(fields, false);
  const std::string prompt = read_purpose(fields, model);
  std::vector<TokenizedText> input = read_texts_or_tokens(
      fields, "input", model, [&](const std::string& text, const std::string& field) {
        if (!truncate) refuse_overlong_text(model, text, field);
        return model.tokens_to_embed(text, {.prompt = prompt});
      });
  for (TokenizedText& one : input) {
    if (one.text)
      one.text = prompt + *one.text;
    else if (prompt != model.embed_settings().prompt)
      throw invalid_request("input",
                            "input has tokens, which are taken as they are, but the request "
                            "asks for a prompt before each text");
  }
  auto state = std::make_shared<Embeddings>(Embeddings{.form = read_form(fields, call)});
  fields.only("late_chunking", false);
  fields.end();

  state->vectors.resize(input.size());
  embed(
      call, std::move(input), truncate, "input",
      [state](size_t number, std::vector<float> vector) { state->add(number, std::move(vector)); },
      [state, answered = call.call, name = call.target.name](int64_t tokens) {
        answered->respond({.body = state->response(name, tokens)});
      });
}

}  // namespace heed::serve

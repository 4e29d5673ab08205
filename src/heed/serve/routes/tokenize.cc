#include "heed/base/interrupt.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {

void post_tokenize(const ModelCall& call) {
  const Model& model = call.model();
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  const std::string text = fields.required_text("text");
  const bool special = fields.boolean("special").value_or(true);
  fields.end();
  const std::vector<int32_t> tokens = model.tokenize(text, special);
  Json texts = Json::array();
  for (const int32_t token : tokens) {
    check_interrupted();
    texts.push_back(model.token_text(token));
  }
  call.call->respond_json({{"model", call.target.name},
                           {"tokens", tokens},
                           {"texts", std::move(texts)},
                           {"count", tokens.size()}});
}

void post_detokenize(const ModelCall& call) {
  const Model& model = call.model();
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  const std::vector<int32_t> tokens = read_tokens(fields, "tokens", model);
  const bool skip_special = fields.boolean("skip_special").value_or(true);
  fields.end();
  call.call->respond_json(
      {{"model", call.target.name}, {"text", model.detokenize(tokens, skip_special)}});
}

}  // namespace heed::serve

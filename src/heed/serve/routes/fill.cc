#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace {

Json filled_json(const Model& model, const std::string& name, const FilledText& filled) {
  Json masks = Json::array();
  for (const FilledMask& mask : filled.masks) {
    Json best = Json::array();
    for (const auto& [token, probability] : mask.best)
      best.push_back(
          {{"token", token}, {"text", model.token_text(token)}, {"probability", probability}});
    masks.push_back({{"position", mask.position}, {"best", std::move(best)}});
  }
  return {{"model", name}, {"masks", std::move(masks)}};
}

}  // namespace

/// The most probable tokens for each [MASK] of a text.
void post_fill(const ModelCall& call) {
  require_task(call.target, call.target.tasks.fill, "fill");
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  const std::string text = fields.required_text("text");
  const int64_t top = fields.integer("top", 1, 1000).value_or(5);
  fields.end();
  call.respond_with(count_tokens(call.model(), text, "text"),
                    [name = call.target.name, text, top](const Model& model) {
                      return filled_json(model, name, model.fill(text, top));
                    });
}

}  // namespace heed::serve

#include <cmath>

#include "heed/attention_drawing.h"
#include "heed/serve/fields/declared_fields.h"
#include "heed/serve/fields/translate_fields.h"
#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"
#include "heed/serve/routes/routes.h"
#include "heed/serve/translation/detected_language.h"
#include "heed/tasks/task_options.h"

namespace heed::serve {
namespace {

constexpr int64_t kMaxWeights = int64_t{1} << 20;  // of an answer
constexpr int64_t kMaxTokens = 512;                // of a text
constexpr size_t kMaxBytes = size_t{64} << 10;     // of a text

/// [H][Tq][Tk], rounded to what a float distinguishes.
Json weights_json(const AttentionMap& map) {
  Json heads = Json::array();
  const float* weight = map.weights.data();
  for (int64_t head = 0; head < map.heads; ++head) {
    Json rows = Json::array();
    for (size_t query = 0; query < map.queries.size(); ++query) {
      Json row = Json::array();
      for (size_t key = 0; key < map.keys.size(); ++key)
        row.push_back(std::round(static_cast<double>(*weight++) * 1e7) / 1e7);
      rows.push_back(std::move(row));
    }
    heads.push_back(std::move(rows));
  }
  return heads;
}

Json maps_json(const Model& model, const std::string& name, const std::string& text,
               const AttentionOptions& options) {
  Json list = Json::array();
  for (const AttentionMap& map : model.attention(text, options))
    list.push_back({{"kind", name_of(map.kind)},
                    {"layer", map.layer},
                    {"first_head", map.first_head},
                    {"heads", map.heads},
                    {"queries", map.queries},
                    {"keys", map.keys},
                    {"weights", weights_json(map)}});
  return {{"model", name}, {"maps", std::move(list)}};
}

/// The element that the page's AttentionView draws.
Json viewer_json(const Model& model, const std::string& name, const std::string& text,
                 const AttentionOptions& options) {
  const AttentionDrawing view =
      attention_element(model, text, {.attention = options, .model_name = name});
  return {{"model", name}, {"html", view.drawing}};
}

}  // namespace

/// Attention weights as numbers, or for the viewer of the page.
void post_attention(const ModelCall& call) {
  const Model& model = call.model();
  require_task(call.target, call.target.tasks.attention, "show its attention");
  JsonFields fields = call.fields();
  fields.ignore({"model"});
  const std::string text = fields.required_text("text");
  AttentionOptions options{.max_weights = kMaxWeights};
  tasks::AttentionOption::for_each([&](const auto& option) {
    if (option.name != "max_weights") read_option(fields, option, options);
  });
  const bool viewer = fields.one_of("format", {"weights", "viewer"}) == "viewer";
  fields.end();
  const auto check_size = [&](const char* name, const std::string& part) {
    if (part.size() > kMaxBytes)
      throw invalid_request(
          name, fmt::format("{} has {} bytes, expected at most {}", name, part.size(), kMaxBytes));
    if (const int64_t count = std::ssize(model.tokenize(part)); count > kMaxTokens)
      throw invalid_request(
          name, fmt::format("{} has {} tokens, expected at most {}", name, count, kMaxTokens));
  };
  check_size("text", text);
  check_size("target", options.target);
  if (options.source_language == engine::kDetectSource)
    options.source_language = detect_source_of(call, {text}).code;
  use_own_codes(call, options.source_language, options.target_language);
  call.respond_with(count_tokens(model, text, "text"),
                    [name = call.target.name, text, options, viewer](const Model& own) {
                      return (viewer ? viewer_json : maps_json)(own, name, text, options);
                    });
}

}  // namespace heed::serve

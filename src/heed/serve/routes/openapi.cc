#include "heed/base/names.h"
#include "heed/generate/generate_options.h"
#include "heed/serve/fields/neutral_fields.h"
#include "heed/serve/routes/routes.h"
#include "heed/tasks/task_options.h"

namespace heed::serve {
namespace api {

extern const std::string_view openapi_json;  // serve/openapi.json

}  // namespace api

namespace {

/// What a schema says of an option that a request may leave out.
template <typename Declared, typename Options>
std::string schema_of(const Declared& option, const Options& defaults) {
  using Number = typename Declared::Number;
  constexpr bool is_bool = std::is_same_v<Number, bool>;
  std::string text =
      fmt::format(R"("type": ["{}", "null"])", is_bool                            ? "boolean"
                                               : std::is_integral_v<Number>       ? "integer"
                                               : std::is_floating_point_v<Number> ? "number"
                                                                                  : "string");
  const auto& served = option.served;
  if constexpr (std::is_enum_v<Number>) {
    text += R"(, "enum": [)";
    for (const Number one : enumerators<Number>()) text += fmt::format(R"("{}", )", name_of(one));
    text += "null]";
  } else if constexpr (std::is_arithmetic_v<Number> && !is_bool) {
    text += fmt::format(R"(, "{}": {}, "maximum": {})",
                        served.above_min ? "exclusiveMinimum" : "minimum", served.min, served.max);
  }
  const auto& value = defaults.*option.field;
  if constexpr (std::is_arithmetic_v<std::decay_t<decltype(value)>>)
    if (served.contains(static_cast<typename Declared::Bound>(value)))
      text += fmt::format(R"(, "default": {})", value);
  return text;
}

void replace_all(std::string& text, std::string_view place, const std::string& by) {
  for (size_t at = 0; (at = text.find(place, at)) != text.npos; at += by.size())
    text.replace(at, place.size(), by);
}

/// Puts schemas in place of `"of": "table.option"`.
template <typename Table>
void put_options(std::string& text, std::string_view table,
                 const typename Table::Options& defaults = {}) {
  Table::for_each([&](const auto& option) {
    replace_all(text, fmt::format(R"("of": "{}.{}")", table, option.name),
                schema_of(option, defaults));
  });
}

/// openapi.json, in which options stand for what their tables say.
std::string description() {
  std::string text(api::openapi_json);
  std::string sampling;
  generate::for_each_sampling_option([&](const auto& option) {
    sampling += fmt::format("          \"{0}\": {{\"of\": \"generate.{0}\"}},\n", option.name);
  });
  replace_all(text, "          \"options of sampling\": {},\n", sampling);
  std::string neutral;
  for (const auto& [name, values] : neutral_fields())
    neutral += values.empty() ? fmt::format("          \"{}\": {{}},\n", name)
                              : fmt::format("          \"{}\": {{\"enum\": [{}, null]}},\n", name,
                                            fmt::join(values, ", "));
  replace_all(text, "          \"fields without effect\": {},\n", neutral);
  put_options<generate::GenerateOption>(text, "generate");
  put_options<generate::SearchOption>(text, "search", TranslateOptions().search);
  put_options<generate::TranslateOption>(text, "translate");
  put_options<generate::DocumentOption>(text, "document");
  put_options<tasks::AttentionOption>(text, "attention");
  return text;
}

}  // namespace

/// The description of all routes, for tools.
void get_openapi(Services& /*services*/, Call& call) { call.respond({.body = description()}); }

}  // namespace heed::serve

#include "heed/generate/generate_options.h"
#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace api {

extern const std::string_view openapi_json;  // serve/openapi.json

}  // namespace api

namespace {

/// The properties of a schema that has the options of sampling, a line each.
std::string sampling_properties() {
  std::string lines;
  generate::for_each_sampling_option([&]<typename Option>(const Option& option) {
    lines += fmt::format(R"(          "{}": {{"type": ["{}", "null"], "{}": {}, "maximum": {}}},)"
                         "\n",
                         option.name,
                         std::is_floating_point_v<typename Option::Bound> ? "number" : "integer",
                         option.served.above_min ? "exclusiveMinimum" : "minimum",
                         option.served.min, option.served.max);
  });
  return lines;
}

/// openapi.json, which has one line in place of the options of sampling.
std::string description() {
  constexpr std::string_view kPlace = "          \"options of sampling\": {},\n";
  const std::string properties = sampling_properties();
  std::string text(api::openapi_json);
  for (size_t at = 0; (at = text.find(kPlace, at)) != text.npos; at += properties.size())
    text.replace(at, kPlace.size(), properties);
  return text;
}

}  // namespace

/// The description of all routes, for tools.
void get_openapi(Services& /*services*/, Call& call) { call.respond({.body = description()}); }

}  // namespace heed::serve

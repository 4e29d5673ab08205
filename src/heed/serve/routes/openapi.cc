#include "heed/serve/routes/routes.h"

namespace heed::serve {
namespace api {

extern const std::string_view openapi_json;  // serve/openapi.json

}  // namespace api

/// The description of all routes, for tools.
void get_openapi(Services& /*services*/, Call& call) {
  call.respond_json(std::string(api::openapi_json));
}

}  // namespace heed::serve

#include "heed/serve/services.h"

namespace heed::serve {

JsonFields fields_of(const Services& services, Call& call, const Json& body) {
  if (services.options.unknown_fields == UnknownFields::refuse) return JsonFields(body);
  return JsonFields(body, {}, [&call](const std::string& name) { call.ignored(name); });
}

}  // namespace heed::serve

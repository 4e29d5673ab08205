#include "heed/serve/services.h"

namespace heed::serve {

JsonFields ModelCall::fields() const {
  if (services.options.unknown_fields == UnknownFields::refuse) return JsonFields(body);
  return JsonFields(body, {}, [call = call](const std::string& name) { call->ignored(name); });
}

}  // namespace heed::serve

#include "heed/serve/routes/routes.h"

namespace heed::serve {

/// For load balancers: 200 while requests are accepted.
void get_health(Services& services, Call& call) {
  const bool ready = services.ready();
  call.respond({.status = ready ? 200 : 503,
                .body = ready ? R"({"status":"ok"})" : R"({"status":"unavailable"})"});
}

}  // namespace heed::serve

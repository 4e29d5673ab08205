#include "heed/serve/operations/history.h"

#include "heed/serve/routes/routes.h"

namespace heed::serve {

/// The last hour, for the page.
void get_history(Services& services, Call& call) { call.respond_json(services.history.json()); }

}  // namespace heed::serve

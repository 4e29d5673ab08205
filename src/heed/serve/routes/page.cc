#include "heed/serve/routes/routes.h"
#include "heed/serve/web_page.h"

namespace heed::serve {

void get_page(Services& /*services*/, Call& call) { call.respond(web_page()); }

}  // namespace heed::serve

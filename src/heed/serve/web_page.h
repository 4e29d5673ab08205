#pragma once

#include "heed/serve/http/message.h"

namespace heed::serve {

/// The web page at /, which is a client of the other routes: one answer of less than 150 KB that
/// needs no further file. Its Content-Security-Policy allows its own script and style alone, by a
/// nonce that no other answer has, and requests to this server.
HttpResponse web_page();

}  // namespace heed::serve

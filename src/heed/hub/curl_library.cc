#include "heed/hub/curl_library.h"

#include "heed/base/error.h"
#include "heed/base/shared_library.h"

namespace heed::hub {

Curl::Curl() {
  const SharedLibrary library({"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"},
                              "downloading a model", "libcurl4");
  decltype(&curl_global_init) global_init = nullptr;
  library.find(global_init, "curl_global_init");
  library.find(easy_init, "curl_easy_init");
  library.find(easy_cleanup, "curl_easy_cleanup");
  library.find(easy_setopt, "curl_easy_setopt");
  library.find(easy_getinfo, "curl_easy_getinfo");
  library.find(easy_strerror, "curl_easy_strerror");
  library.find(multi_init, "curl_multi_init");
  library.find(multi_cleanup, "curl_multi_cleanup");
  library.find(multi_add_handle, "curl_multi_add_handle");
  library.find(multi_remove_handle, "curl_multi_remove_handle");
  library.find(multi_perform, "curl_multi_perform");
  library.find(multi_poll, "curl_multi_poll");
  library.find(multi_info_read, "curl_multi_info_read");
  library.find(multi_strerror, "curl_multi_strerror");
  const CURLcode status = global_init(CURL_GLOBAL_DEFAULT);
  require(status == CURLE_OK, "libcurl cannot be initialised: {}", easy_strerror(status));
}

const Curl& Curl::get() {
  static const Curl library;
  return library;
}

}  // namespace heed::hub

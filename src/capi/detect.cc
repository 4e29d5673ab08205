#include <algorithm>

#include "capi/values.h"
#include "heed/c_read.h"
#include "heed/language.h"

namespace heed::capi {
namespace {

/// The code as long as the program runs.
const char* lasting(const std::string& code) {
  const std::vector<std::string>& codes = LanguageIdentifier::built_in().languages();
  return std::ranges::find(codes, code)->c_str();
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

heed_status heed_detect_language(heed_string text, const heed_string* among, size_t among_count,
                                 heed_detected_language* languages, size_t capacity, size_t* count,
                                 heed_error* error) {
  return run(error, [&] {
    require_pointer(count, "count");
    require_argument(languages != nullptr || capacity == 0, "languages is NULL");
    const auto detected =
        heed::detect_language(text_of(text, "text"), texts_of(among, among_count, "among"));
    *count = std::min(capacity, detected.size());
    for (size_t i = 0; i < *count; ++i)
      languages[i] = {.code = lasting(detected[i].code), .probability = detected[i].probability};
  });
}

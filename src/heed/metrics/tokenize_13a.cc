#include "heed/metrics/tokenize_13a.h"

#include "heed/metrics/punctuation.h"
#include "heed/metrics/words.h"

namespace heed::metrics {

std::string tokenize_13a(std::string_view text) {
  std::string result = replaced(without_trailing_space(text), "<skipped>", "");
  result = replaced(result, "-\n", "");
  result = replaced(result, "\n", " ");
  return separate_stops(separate_symbols(" " + decode_entities(std::move(result)) + " "));
}

}  // namespace heed::metrics

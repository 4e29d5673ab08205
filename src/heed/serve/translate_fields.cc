#include "heed/serve/translate_fields.h"

#include <limits>

namespace heed::serve {

TranslateOptions read_translate_options(JsonFields& fields) {
  TranslateOptions options;
  SearchOptions& search = options.search;
  options.source_language = fields.text("source_language").value_or("");
  options.target_language = fields.text("target_language").value_or("");
  search.num_beams =
      static_cast<int>(fields.integer("num_beams", 1, kMaxBeams).value_or(search.num_beams));
  search.n_best = static_cast<int>(fields.integer("n_best", 1, search.num_beams).value_or(1));
  search.length_penalty = static_cast<float>(
      fields.number("length_penalty", -100, 100).value_or(search.length_penalty));
  search.max_new_tokens = fields.integer("max_new_tokens", 1, std::numeric_limits<int32_t>::max());
  search.scores = true;
  options.alignments = fields.boolean("alignments").value_or(false);
  return options;
}

}  // namespace heed::serve

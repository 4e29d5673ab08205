#include "heed/serve/translate_fields.h"

#include "heed/generate/generate_options.h"

namespace heed::serve {

TranslateOptions read_translate_options(JsonFields& fields) {
  TranslateOptions options;
  SearchOptions& search = options.search;
  options.source_language = fields.text("source_language").value_or("");
  options.target_language = fields.text("target_language").value_or("");
  namespace search_option = generate::search_option;
  const Range<int64_t>& beams = search_option::num_beams.served;
  const Range<double>& penalties = search_option::length_penalty.served;
  const Range<int64_t>& lengths = search_option::max_new_tokens.served;
  search.num_beams = static_cast<int>(
      fields.integer("num_beams", beams.min, beams.max).value_or(search.num_beams));
  search.n_best = static_cast<int>(fields.integer("n_best", 1, search.num_beams).value_or(1));
  search.length_penalty =
      static_cast<float>(fields.number("length_penalty", penalties.min, penalties.max)
                             .value_or(search.length_penalty));
  search.max_new_tokens = fields.integer("max_new_tokens", lengths.min, lengths.max);
  search.scores = true;
  options.alignments = fields.boolean("alignments").value_or(false);
  return options;
}

}  // namespace heed::serve

#include "heed/serve/fields/translate_fields.h"

#include "heed/generate/generate_options.h"
#include "heed/serve/fields/declared_fields.h"
#include "heed/serve/language_codes.h"

namespace heed::serve {

TranslateOptions read_translate_options(JsonFields& fields) {
  using generate::SearchOption, generate::TranslateOption;
  TranslateOptions options;
  SearchOptions& search = options.search;
  read_option(fields, TranslateOption::source_language, options);
  read_option(fields, TranslateOption::target_language, options);
  read_option(fields, SearchOption::num_beams, search);
  search.n_best = static_cast<int>(fields.integer("n_best", 1, search.num_beams).value_or(1));
  read_option(fields, SearchOption::length_penalty, search);
  read_option(fields, SearchOption::max_new_tokens, search);
  search.scores = true;
  read_option(fields, TranslateOption::via, options);
  read_option(fields, TranslateOption::alignments, options);
  read_option(fields, TranslateOption::confidence, options);
  return options;
}

void use_own_codes(const ModelCall& call, std::string& source, std::string& target) {
  const auto replace = [](std::string& language, const std::string& configured,
                          const std::vector<std::string>& codes) {
    if (language == configured) language = code_of_language(codes, language);
  };
  replace(source, call.target.source_language, call.model().source_languages());
  replace(target, call.target.target_language, call.model().languages());
}

}  // namespace heed::serve

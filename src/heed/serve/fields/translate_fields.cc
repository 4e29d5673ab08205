#include "heed/serve/fields/translate_fields.h"

#include "heed/document/document.h"
#include "heed/generate/generate_options.h"
#include "heed/serve/fields/declared_fields.h"
#include "heed/text/language_codes.h"

namespace heed::serve {
namespace {

constexpr size_t kMaxTerms = 5000;

std::vector<GlossaryTerm> read_glossary(JsonFields& fields, std::string_view name) {
  std::vector<GlossaryTerm> terms;
  const Json* list = fields.find(name);
  if (!list) return terms;
  const std::string path = fields.path_of(name);
  if (!list->is_array() || list->size() > kMaxTerms)
    throw invalid_request(
        path, fmt::format(
                  "{} is {}, expected a list of at most {} terms", path,
                  list->is_array() ? fmt::format("a list of {}", list->size()) : list->type_name(),
                  kMaxTerms));
  for (const Json& value : *list) {
    JsonFields term(value, fmt::format("{}[{}]", path, terms.size()));
    GlossaryTerm& added = terms.emplace_back();
    added.source = term.required_text("source");
    added.targets = term.texts("target").value_or(std::vector<std::string>());
    added.match_case = term.boolean("match_case").value_or(false);
    term.end();
  }
  return terms;
}

}  // namespace

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
  options.glossary = read_glossary(fields, TranslateOption::glossary.key);
  read_option(fields, TranslateOption::do_not_translate, options);
  read_option(fields, TranslateOption::confidence, options);
  return options;
}

std::optional<DocumentOptions> read_document_options(JsonFields& fields) {
  using generate::DocumentOption;
  DocumentOptions options;
  const bool has_format = fields.find(DocumentOption::format.key) != nullptr;
  const bool asked = fields.boolean("document").value_or(has_format);
  DocumentOption::for_each([&](const auto& option) {
    const Json* found = fields.find(option.key);
    if (!asked && found && *found != false)
      throw invalid_request(fields.path_of(option.key),
                            fmt::format("{} is of documents: set \"document\": true", option.key));
    read_option(fields, option, options);
  });
  if (!asked) return std::nullopt;
  try {
    document::format_named(options.format);
  } catch (const Error& error) {
    throw invalid_request(fields.path_of(DocumentOption::format.key), error.what());
  }
  return options;
}

void use_own_codes(const ModelCall& call, std::string& source, std::string& target) {
  const auto replace = [](std::string& language, const std::string& configured,
                          const std::vector<std::string>& codes) {
    if (language == configured) language = text::code_of_language(codes, language);
  };
  replace(source, call.target.source_language, call.model().source_languages());
  replace(target, call.target.target_language, call.model().languages());
}

}  // namespace heed::serve

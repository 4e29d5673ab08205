#include "capi/generate.h"
#include "capi/model.h"
#include "capi/options.h"
#include "capi/outputs.h"
#include "heed/confidence.h"
#include "heed/generate/generate_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_translate_options, TranslateOptions, HEED_TRANSLATE_VALUES)
HEED_C_OPTIONS(heed_document_options, DocumentOptions, HEED_DOCUMENT_OPTIONS)

namespace {

TranslateOptions translate_options(const heed_translate_options& from) {
  TranslateOptions options = options_of(from);
  if (from.search) options.search = search_options(read_sized(from.search, "search"));
  for (const heed_glossary_term& term : span_of(from.glossary, from.glossary_count, "glossary"))
    options.glossary.push_back({.source = std::string(text_of(term.source, "source")),
                                .targets = texts_of(term.targets, term.target_count, "targets"),
                                .match_case = term.match_case != 0});
  options.do_not_translate =
      texts_of(from.do_not_translate, from.do_not_translate_count, "do_not_translate");
  if (from.then) options.then = std::make_shared<const Model>(model_of(from.then));
  return options;
}

/// `call` is heed::evaluate_confidence() or calibrate_confidence().
heed_confidence_report confidence_report(decltype(heed::evaluate_confidence)& call,
                                         heed_model* model, const heed_string* sources,
                                         const heed_string* references, size_t count,
                                         const heed_translate_options* options) {
  const heed::ConfidenceReport report =
      call(model_of(model), texts_of(sources, count, "sources"),
           texts_of(references, count, "references"), translate_options(read_sized(options)));
  return {.struct_size = sizeof(heed_confidence_report),
          .sentences = report.sentences,
          .words = report.words,
          .kept_words = report.kept_words,
          .kept_sentences = report.kept_sentences,
          .word_error = report.word_error,
          .sentence_error = report.sentence_error,
          .uncalibrated_word_error = report.uncalibrated_word_error,
          .uncalibrated_sentence_error = report.uncalibrated_sentence_error};
}

DocumentOptions document_options(const heed_document_options& from) {
  DocumentOptions options = options_of(from);
  if (from.translate)
    options.translate = translate_options(read_sized(from.translate, "translate"));
  return options;
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_translate_options)
HEED_DEFINE_INIT(heed_document_options)

heed_status heed_translate(heed_model* model, const heed_string* lines, size_t count,
                           const heed_translate_options* options, heed_search_result** result,
                           heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    const heed_translate_options from = read_sized(options);
    auto found = std::make_shared<std::vector<FoundCandidates>>();
    for (heed::Translation& line : loaded.translate_batch(
             texts_of(lines, count, "lines"), translate_options(from), from.first_number))
      found->push_back(
          {.source = std::move(line.source), .candidates = stored(std::move(line.candidates))});
    set_handle(result, std::move(found));
  });
}

heed_status heed_evaluate_confidence(heed_model* model, const heed_string* sources,
                                     const heed_string* references, size_t count,
                                     const heed_translate_options* options,
                                     heed_confidence_report* report, heed_error* error) {
  return run(error, [&] {
    require_pointer(report, "report");
    write_sized(
        report,
        confidence_report(heed::evaluate_confidence, model, sources, references, count, options),
        "report");
  });
}

heed_status heed_calibrate_confidence(heed_model* model, const heed_string* sources,
                                      const heed_string* references, size_t count,
                                      const heed_translate_options* options,
                                      heed_confidence_report* report, heed_error* error) {
  return run(error, [&] {
    require_pointer(report, "report");
    write_sized(
        report,
        confidence_report(heed::calibrate_confidence, model, sources, references, count, options),
        "report");
  });
}

heed_status heed_translate_document(heed_model* model, heed_string document,
                                    const heed_document_options* options,
                                    heed_on_sentences on_sentences, void* user_data,
                                    heed_document_result** result, heed_error* error) {
  return run(error, [&] {
    require_output(result, "result");
    const heed::Model loaded = model_of(model);
    heed::Model::OnSentences report;
    if (on_sentences)
      report = [&](int64_t done, int64_t all) {
        if (on_sentences(user_data, done, all) != 0) fail_cancelled();
      };
    set_handle(result, std::make_shared<heed::DocumentTranslation>(loaded.translate_document(
                           std::string(text_of(document, "document")),
                           document_options(read_sized(options)), report)));
  });
}

heed_status heed_document_result_text(heed_document_result* result, heed_string* text,
                                      heed_error* error) {
  return run(error, [&] { write_value(text, string_of(object_of(result)->text), "text"); });
}

HEED_DEFINE_FREE(heed_document_result)

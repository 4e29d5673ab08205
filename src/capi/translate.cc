#include "capi/generate.h"
#include "capi/model.h"
#include "capi/outputs.h"

namespace heed::capi {

template <>
heed_translate_options defaults<heed_translate_options>() {
  heed_translate_options options{};
  options.first_number = 1;
  return options;
}

namespace {

TranslateOptions translate_options(const heed_translate_options& from) {
  TranslateOptions options;
  if (from.search) options.search = search_options(read_sized(from.search, "search"));
  options.source_language = text_or_empty(from.source_language);
  options.target_language = text_or_empty(from.target_language);
  options.alignments = from.alignments != 0;
  options.batch_tokens = from.batch_tokens;
  return options;
}

}  // namespace
}  // namespace heed::capi

using namespace heed::capi;

HEED_DEFINE_INIT(heed_translate_options)

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

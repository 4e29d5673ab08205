#include "capi/generate.h"
#include "capi/model.h"
#include "capi/options.h"
#include "capi/outputs.h"
#include "heed/generate/generate_options.h"

namespace heed::capi {

HEED_C_OPTIONS(heed_translate_options, TranslateOptions, HEED_TRANSLATE_OPTIONS)

namespace {

TranslateOptions translate_options(const heed_translate_options& from) {
  TranslateOptions options = options_of(from);
  if (from.search) options.search = search_options(read_sized(from.search, "search"));
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

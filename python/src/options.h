#pragma once

#include <memory>

#include "arguments.h"
#include "heed/attention.h"
#include "heed/chat.h"
#include "heed/embedding.h"
#include "heed/load_options.h"
#include "heed/model.h"
#include "heed/score.h"
#include "heed/session.h"
#include "heed/translation.h"

namespace heed::python {

/// What a chat template makes of messages; with the number of messages, which selects the ids of
/// calls.
struct MadePrompt {
  ChatPrompt prompt;
  uint64_t messages = 0;
};

// Options of heed, taken from keyword arguments of the same names. What is not given stays as it
// is.

template <typename Table>
typename Table::Options take_options(Keywords& keywords) {
  typename Table::Options options;
  Table::for_each(
      [&](const auto& option) { keywords.read(option.key.data(), options.*option.field); });
  return options;
}
/// The options of a function that has no other keywords.
template <typename Table>
typename Table::Options only_options(const nb::dict& values, std::string_view function) {
  Keywords keywords(values);
  auto options = take_options<Table>(keywords);
  keywords.finish(function);
  return options;
}

SearchOptions take_search_options(Keywords& keywords, const SearchOptions& defaults);
TranslateOptions take_translate_options(Keywords& keywords);
DocumentOptions take_document_options(Keywords& keywords);
/// "schema", which is JSON here, "white_space", "regex", "grammar" and "choice".
StructuredOutput take_structured_output(Keywords& keywords);
GenerateOptions take_generate_options(Keywords& keywords);
/// Compiles what outputs are to match. Issues a UserWarning that names the keywords of a JSON
/// Schema that assert nothing.
void prepare_output(const Model& model, const GenerateOptions& options);
/// The prompt and everything else of a request. It is a search if an option of one is given. The
/// output of a MadePrompt is an answer (answer_options()).
Request take_request(nb::handle prompt, Keywords& keywords);
LoadOptions take_load_options(Keywords& keywords);
HubOptions take_hub_options(Keywords& keywords);
/// The function that is told about a download: of a call that waits for it.
void take_download_progress(Keywords& keywords, HubOptions& options);
/// An Executor of `threads`; null if that is not given.
std::shared_ptr<Executor> take_executor(Keywords& keywords);
/// "adapters": a list of paths, or of dicts with path, name and scale.
std::vector<AdapterOptions> take_adapters(Keywords& keywords);

}  // namespace heed::python

#include "model.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "call.h"
#include "heed/confidence.h"
#include "heed/generate/generate_options.h"
#include "heed/hub.h"
#include "options.h"

namespace heed::python {
namespace {

OpenModel load(nb::handle path, const Options& options) {
  const std::filesystem::path name = path_from(path, "path");
  Keywords keywords(options);
  LoadOptions load_options = take_load_options(keywords);
  take_download_progress(keywords, load_options.hub);
  keywords.finish("load");
  Model model = run([&] { return Model::load(name, load_options); });
  HubOptions hub = load_options.hub;
  hub.offline = true;  // it is there now
  hub.weights = !load_options.random_weights;
  return {name.string(), run([&] { return resolve_model(name, hub); }), std::move(model)};
}

nb::typed<nb::list, Generation> generate(const OpenModel& open, nb::handle prompts,
                                         const Options& options, int64_t first_number) {
  const Model model = open.get();
  const Arguments texts(list_from(prompts, "prompts", prompt_from));
  Keywords keywords(options);
  const GenerateOptions generate_options = take_generate_options(keywords);
  keywords.finish("generate");
  prepare_output(model, generate_options);
  return list_of(run([&] { return model.generate_batch(*texts, generate_options, first_number); }));
}

nb::typed<nb::list, std::vector<Candidate>> search(const OpenModel& open, nb::handle prompts,
                                                   const Options& options) {
  const Model model = open.get();
  const Arguments texts(list_from(prompts, "prompts", prompt_from));
  Keywords keywords(options);
  const SearchOptions search_options = take_search_options(keywords, {});
  const auto limits = take_options<generate::GenerateOption>(keywords);
  keywords.finish("search");
  return list_of(run([&] { return model.search_batch(*texts, search_options, limits); }));
}

/// Calls a Python function on the calling thread, if there is one. Its exception ends the call.
Model::OnSentences sentences_to(nb::object function) {
  if (function.is_none()) return {};
  return [held = held_without_gil(std::move(function))](int64_t done, int64_t all) {
    const nb::gil_scoped_acquire acquire;
    try {
      (*held)(done, all);
    } catch (nb::python_error& error) {
      Interruption::current()->hold(std::move(error));
    }
  };
}

DocumentTranslation translate_document(const OpenModel& open, nb::handle text,
                                       const Options& options, nb::object on_sentences) {
  const Model model = open.get();
  const Arguments document(text_from(text, "text"));
  Keywords keywords(options);
  const DocumentOptions document_options = take_document_options(keywords);
  keywords.finish("translate_document");
  const Model::OnSentences report = sentences_to(std::move(on_sentences));
  return run([&] { return model.translate_document(*document, document_options, report); });
}

nb::typed<nb::list, Translation> translate(const OpenModel& open, nb::handle lines,
                                           const Options& options, int64_t first_number) {
  const Model model = open.get();
  const Arguments texts(texts_from(lines, "lines"));
  Keywords keywords(options);
  const TranslateOptions translate_options = take_translate_options(keywords);
  keywords.finish("translate");
  return list_of(
      run([&] { return model.translate_batch(*texts, translate_options, first_number); }));
}

/// `call` is heed::evaluate_confidence() or calibrate_confidence().
template <auto call>
ConfidenceReport report_confidence(const OpenModel& open, nb::handle sources, nb::handle references,
                                   const Options& options) {
  const Model model = open.get();
  const Arguments texts(texts_from(sources, "sources"));
  const Arguments right(texts_from(references, "references"));
  Keywords keywords(options);
  const TranslateOptions translate_options = take_translate_options(keywords);
  keywords.finish("a report of confidence");
  return run([&] { return call(model, *texts, *right, translate_options); });
}

std::vector<int32_t> tokenize(const OpenModel& open, nb::handle text, bool special) {
  const Model model = open.get();
  const std::string bytes = text_from(text, "text");
  return run([&] { return model.tokenize(bytes, special); });
}

std::string detokenize(const OpenModel& open, nb::handle tokens, bool skip_special) {
  const Model model = open.get();
  const std::vector<int32_t> ids = tokens_from(tokens, "tokens");
  return run([&] { return model.detokenize(ids, skip_special); });
}

std::string token_text(const OpenModel& open, nb::handle token) {
  const auto id = integer_from(token, "token", std::numeric_limits<int32_t>::min(),
                               std::numeric_limits<int32_t>::max());
  return open.get().token_text(static_cast<int32_t>(id));
}

nb::bytes token_bytes(const OpenModel& open, nb::handle token) {
  const auto id = integer_from(token, "token", std::numeric_limits<int32_t>::min(),
                               std::numeric_limits<int32_t>::max());
  const std::string bytes = open.get().token_bytes(static_cast<int32_t>(id));
  return nb::bytes(bytes.data(), bytes.size());
}

/// A property of the model; an Error if it is closed.
template <auto member>
auto property() {
  // By value: what a function refers to belongs to the copy of the model.
  return [](const OpenModel& open) {
    const Model copy = open.get();
    return std::decay_t<decltype((copy.*member)())>((copy.*member)());
  };
}

}  // namespace

Model OpenModel::get() const {
  if (!model_) throw Error("the model is closed");
  return *model_;
}

void OpenModel::close() {
  if (!model_) return;
  std::optional<Model> last = std::exchange(model_, {});
  const nb::gil_scoped_release release;  // gigabytes may be freed
  last.reset();
}

void bind_model(nb::module_& m) {
  nb::class_<OpenModel> model(m, "Model");
  model.def("close", &OpenModel::close)
      .def_prop_ro("is_open", &OpenModel::is_open)
      .def_prop_ro("name", &OpenModel::name)
      .def_prop_ro("path", &OpenModel::path)
      .def_prop_ro("family", property<&Model::family>())
      .def_prop_ro("gpu", property<&Model::gpu>())
      .def_prop_ro("has_encoder", property<&Model::has_encoder>())
      .def_prop_ro("has_decoder", property<&Model::has_decoder>())
      .def_prop_ro("context_length", property<&Model::context_length>())
      .def_prop_ro("vocab_size", property<&Model::vocab_size>())
      .def_prop_ro("embedding_size",
                   [](const OpenModel& open) { return open.get().embedding_size(); })
      .def_prop_ro("eos_ids", property<&Model::eos_ids>())
      .def_prop_ro("has_tokenizer", property<&Model::has_tokenizer>())
      .def_prop_ro("warnings", property<&Model::warnings>())
      .def_prop_ro("has_chat_template", property<&Model::has_chat_template>())
      .def("generate", &generate, nb::arg("prompts"), nb::arg("options"), nb::arg("first_number"))
      .def("search", &search, nb::arg("prompts"), nb::arg("options"))
      .def("translate_document", &translate_document, nb::arg("text"), nb::arg("options"),
           nb::arg("on_sentences").none())
      .def("translate", &translate, nb::arg("lines"), nb::arg("options"), nb::arg("first_number"))
      .def("evaluate_confidence", &report_confidence<&evaluate_confidence>, nb::arg("sources"),
           nb::arg("references"), nb::arg("options"))
      .def("calibrate_confidence", &report_confidence<&calibrate_confidence>, nb::arg("sources"),
           nb::arg("references"), nb::arg("options"))
      .def("tokenize", &tokenize, nb::arg("text"), nb::arg("special"))
      .def("detokenize", &detokenize, nb::arg("tokens"), nb::arg("skip_special"))
      .def("token_text", &token_text, nb::arg("token"))
      .def("token_bytes", &token_bytes, nb::arg("token"));
  m.def("load", &load, nb::arg("path"), nb::arg("options"));
  bind_reading(model);
  bind_chat(m, model);
  bind_attention(m, model);
}

}  // namespace heed::python

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "call.h"
#include "heed/tasks/task_options.h"
#include "model.h"
#include "options.h"

// What models do with a text beside continuing it: vectors, labels, probabilities.
namespace heed::python {
namespace {

nb::object embed(const OpenModel& open, nb::handle texts, const Options& options,
                 int64_t first_number) {
  const Model model = open.get();
  const Arguments lines(texts_from(texts, "texts"));
  const auto embed_options = only_options<tasks::EmbedOption>(options, "embed");
  const auto width = static_cast<size_t>(model.embedding_size(embed_options));
  std::vector<float> embeddings = run([&] {
    std::vector<float> rows(lines->size() * width);
    model.embed_batch(*lines, rows, embed_options, first_number);
    return rows;
  });
  return array_of(std::move(embeddings), {lines->size(), width});
}

nb::typed<nb::list, std::vector<WindowEmbedding>> embed_windows(const OpenModel& open,
                                                                nb::handle texts,
                                                                const Options& options,
                                                                int64_t first_number) {
  const Model model = open.get();
  const Arguments lines(texts_from(texts, "texts"));
  const auto embed_options = only_options<tasks::EmbedOption>(options, "embed_windows");
  return list_of(run([&] { return model.embed_windows(*lines, embed_options, first_number); }));
}

nb::typed<nb::list, SparseEmbedding> embed_sparse(const OpenModel& open, nb::handle texts,
                                                  const Options& options, int64_t first_number) {
  const Model model = open.get();
  const Arguments lines(texts_from(texts, "texts"));
  const auto embed_options = only_options<tasks::EmbedOption>(options, "embed_sparse");
  return list_of(run([&] { return model.embed_sparse(*lines, embed_options, first_number); }));
}

/// A list of arrays [tokens, dimension], by a function of Model.
template <auto embed_tokens>
nb::list vectors_of_tokens(const OpenModel& open, nb::handle texts, const Options& options,
                           int64_t first_number) {
  const Model model = open.get();
  const Arguments lines(texts_from(texts, "texts"));
  const auto embed_options = only_options<tasks::EmbedOption>(options, "embed");
  std::vector<MultiVectorEmbedding> embeddings =
      run([&] { return (model.*embed_tokens)(*lines, embed_options, first_number); });
  nb::list arrays;
  for (MultiVectorEmbedding& one : embeddings)
    arrays.append(
        array_of(std::move(one.values), {one.tokens.size(), static_cast<size_t>(one.dimension)}));
  return arrays;
}

nb::typed<nb::list, std::vector<LabelScore>> classify(const OpenModel& open, nb::handle texts,
                                                      const Options& options) {
  const Model model = open.get();
  const Arguments inputs(list_from(texts, "texts", classify_input_from));
  const auto classify_options = only_options<tasks::ClassifyOption>(options, "classify");
  return list_of(run([&] { return model.classify_batch(*inputs, classify_options); }));
}

nb::typed<nb::list, RankedDocument> rerank(const OpenModel& open, nb::handle query,
                                           nb::handle documents, const Options& options) {
  const Model model = open.get();
  const std::string question = text_from(query, "query");
  const Arguments texts(texts_from(documents, "documents"));
  const auto classify_options = only_options<tasks::ClassifyOption>(options, "rerank");
  return list_of(run([&] { return model.rerank(question, *texts, classify_options); }));
}

nb::typed<nb::list, LabelledText> label_tokens(const OpenModel& open, nb::handle texts,
                                               const Options& options) {
  const Model model = open.get();
  const Arguments lines(texts_from(texts, "texts"));
  const auto classify_options = only_options<tasks::ClassifyOption>(options, "label_tokens");
  return list_of(run([&] { return model.label_tokens_batch(*lines, classify_options); }));
}

Score score(const OpenModel& open, nb::handle text, const Options& options) {
  const Model model = open.get();
  const std::string read = text_from(text, "text");
  const auto score_options = only_options<tasks::ScoreOption>(options, "score");
  return run([&] { return model.score(read, score_options); });
}

/// [tokens, vocab_size].
nb::object logits(const OpenModel& open, nb::handle tokens, nb::handle source_tokens) {
  const Model model = open.get();
  const std::vector<int32_t> ids = tokens_from(tokens, "tokens");
  const auto sources = source_tokens.is_none() ? std::vector<int32_t>()
                                               : tokens_from(source_tokens, "source_tokens");
  Logits logits = run([&] { return model.logits(ids, sources); });
  return array_of(std::move(logits.values),
                  {static_cast<size_t>(logits.rows), static_cast<size_t>(logits.vocab_size)});
}

Score score_pair(const OpenModel& open, nb::handle source, nb::handle target) {
  const Model model = open.get();
  const std::string from = text_from(source, "source"), to = text_from(target, "target");
  return run([&] { return model.score_pair(from, to); });
}

FilledText fill(const OpenModel& open, nb::handle text, int64_t top) {
  const Model model = open.get();
  const std::string read = text_from(text, "text");
  return run([&] { return model.fill(read, top); });
}

}  // namespace

nb::object array_of(std::vector<float> values, std::vector<size_t> shape) {
  auto held = std::make_unique<std::vector<float>>(std::move(values));
  if (held->empty()) held->reserve(1);  // an array needs an address
  float* const data = held->data();
  const nb::capsule owner(
      held.release(), [](void* owned) noexcept { delete static_cast<std::vector<float>*>(owned); });
  return nb::cast(nb::ndarray<nb::numpy, float>(data, shape.size(), shape.data(), owner));
}

void bind_reading(nb::class_<OpenModel>& model) {
  model
      .def("logits", &logits, nb::arg("tokens"), nb::arg("source_tokens").none(),
           nb::sig("def logits(self, tokens: object, source_tokens: object | None) -> "
                   "numpy.typing.NDArray[numpy.float32]"))
      .def("embed", &embed, nb::arg("texts"), nb::arg("options"), nb::arg("first_number"),
           nb::sig("def embed(self, texts: object, options: dict[str, typing.Any], first_number: "
                   "int) -> "
                   "numpy.typing.NDArray[numpy.float32]"))
      .def("embed_windows", &embed_windows, nb::arg("texts"), nb::arg("options"),
           nb::arg("first_number"))
      .def("embed_sparse", &embed_sparse, nb::arg("texts"), nb::arg("options"),
           nb::arg("first_number"))
      .def("token_embeddings", &vectors_of_tokens<&Model::token_embeddings>, nb::arg("texts"),
           nb::arg("options"), nb::arg("first_number"),
           nb::sig("def token_embeddings(self, texts: object, options: dict[str, typing.Any], "
                   "first_number: int) -> list[numpy.typing.NDArray[numpy.float32]]"))
      .def("embed_multi_vector", &vectors_of_tokens<&Model::embed_multi_vector>, nb::arg("texts"),
           nb::arg("options"), nb::arg("first_number"),
           nb::sig("def embed_multi_vector(self, texts: object, options: dict[str, typing.Any], "
                   "first_number: int) -> list[numpy.typing.NDArray[numpy.float32]]"))
      .def("classify", &classify, nb::arg("texts"), nb::arg("options"))
      .def("rerank", &rerank, nb::arg("query"), nb::arg("documents"), nb::arg("options"))
      .def("label_tokens", &label_tokens, nb::arg("texts"), nb::arg("options"))
      .def("score", &score, nb::arg("text"), nb::arg("options"))
      .def("score_pair", &score_pair, nb::arg("source"), nb::arg("target"))
      .def("fill", &fill, nb::arg("text"), nb::arg("top"));
}

}  // namespace heed::python

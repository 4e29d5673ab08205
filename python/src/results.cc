#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "model.h"

// What calls return, as read-only Python objects.
namespace heed::python {
namespace {

std::string finish_reason(const Generation& generation) {
  return std::string(name_of(generation.finish_reason));
}

std::string repr(const char* type, const std::string& text) {
  return fmt::format("{}({})", type, nb::repr(nb::str(text.c_str(), text.size())).c_str());
}

void bind_generation(nb::module_& m) {
  nb::class_<TokenLogProbability>(m, "TokenLogProbability", "A token and its natural logarithm.")
      .def_ro("token", &TokenLogProbability::token)
      .def_ro("log_probability", &TokenLogProbability::log_probability)
      .def("__repr__", [](const TokenLogProbability& one) {
        return fmt::format("TokenLogProbability(token={}, log_probability={})", one.token,
                           one.log_probability);
      });
  nb::class_<Generation>(m, "Generation", "The output that follows one prompt.")
      .def_ro("tokens", &Generation::tokens)
      .def_ro("text", &Generation::text)
      .def_prop_ro("finish_reason", &finish_reason, "'stop' or 'length'")
      .def_ro("stop_string", &Generation::stop_string)
      .def_ro("drafted_tokens", &Generation::drafted_tokens)
      .def_ro("accepted_tokens", &Generation::accepted_tokens)
      .def_ro("chosen", &Generation::chosen, "with top_log_probabilities: of each token")
      .def_ro("best", &Generation::best, "with top_log_probabilities: most probable first")
      .def("__str__", [](const Generation& one) { return one.text; })
      .def("__repr__", [](const Generation& one) { return repr("Generation", one.text); });
}

void bind_search(nb::module_& m) {
  nb::class_<AlignedWords>(m, "AlignedWords", "A pair of aligned words, counted from 0.")
      .def_ro("source", &AlignedWords::source)
      .def_ro("target", &AlignedWords::target);
  nb::class_<Candidate>(m, "Candidate", "One output of a search.")
      .def_ro("text", &Candidate::text)
      .def_ro("alignment", &Candidate::alignment)
      .def_prop_ro("tokens", [](const Candidate& one) { return one.hypothesis.tokens; })
      .def_prop_ro("log_probability",
                   [](const Candidate& one) { return one.hypothesis.log_probability; })
      .def_prop_ro("score", [](const Candidate& one) { return one.hypothesis.score; })
      .def("__str__", [](const Candidate& one) { return one.text; })
      .def("__repr__", [](const Candidate& one) { return repr("Candidate", one.text); });
  nb::class_<Translation>(m, "Translation", "A line of text and its translations.")
      .def_ro("source", &Translation::source, "its tokens, with end of sequence")
      .def_ro("candidates", &Translation::candidates, "best first; empty for an empty line")
      .def_prop_ro("text", &Translation::text, "the best translation")
      .def("__str__", &Translation::text)
      .def("__repr__", [](const Translation& one) { return repr("Translation", one.text()); });
}

void bind_scores(nb::module_& m) {
  nb::class_<Score>(m, "Score", "The probability of a text.")
      .def_ro("tokens", &Score::tokens)
      .def_ro("log_probabilities", &Score::log_probabilities,
              "natural logarithms, of the last tokens")
      .def_prop_ro("log_probability", &Score::log_probability, "of all scored tokens")
      .def_prop_ro("perplexity", &Score::perplexity);
  nb::class_<TokenProbability>(m, "TokenProbability")
      .def_ro("token", &TokenProbability::token)
      .def_ro("probability", &TokenProbability::probability);
  nb::class_<FilledMask>(m, "FilledMask", "Candidates for a masked token.")
      .def_ro("position", &FilledMask::position, "in the tokens")
      .def_ro("best", &FilledMask::best, "most probable first");
  nb::class_<FilledText>(m, "FilledText", "A text and the candidates for its masked tokens.")
      .def_ro("tokens", &FilledText::tokens)
      .def_ro("masks", &FilledText::masks);
}

void bind_labels(nb::module_& m) {
  nb::class_<LabelScore>(m, "LabelScore")
      .def_ro("label", &LabelScore::label)
      .def_ro("score", &LabelScore::score)
      .def("__repr__", [](const LabelScore& one) {
        return fmt::format("LabelScore(label='{}', score={})", one.label, one.score);
      });
  nb::class_<RankedDocument>(m, "RankedDocument", "A document and how well it answers a query.")
      .def_ro("index", &RankedDocument::index, "among the documents, from 0")
      .def_ro("score", &RankedDocument::score)
      .def("__repr__", [](const RankedDocument& one) {
        return fmt::format("RankedDocument(index={}, score={})", one.index, one.score);
      });
  nb::class_<Entity>(m, "Entity", "Neighbouring tokens with the same label.")
      .def_ro("label", &Entity::label)
      .def_ro("score", &Entity::score)
      .def_ro("text", &Entity::text)
      .def_ro("first_token", &Entity::first_token)
      .def_ro("end_token", &Entity::end_token)
      .def_ro("start", &Entity::start, "in characters of the text")
      .def_ro("end", &Entity::end)
      .def("__repr__", [](const Entity& one) {
        return fmt::format("Entity(label='{}', start={}, end={})", one.label, one.start, one.end);
      });
  nb::class_<LabelledText>(m, "LabelledText", "A text and its entities, in order.")
      .def_ro("tokens", &LabelledText::tokens)
      .def_ro("entities", &LabelledText::entities);
}

}  // namespace

void bind_results(nb::module_& m) {
  bind_generation(m);
  bind_search(m);
  bind_scores(m);
  bind_labels(m);
}

}  // namespace heed::python

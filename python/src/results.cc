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
      .def_ro("token", &TokenLogProbability::token, "a token id")
      .def_ro("log_probability", &TokenLogProbability::log_probability,
              "natural, before penalties, biases and temperature")
      .def_ro("forbidden", &TokenLogProbability::forbidden,
              "with free_log_probabilities: why the token could not follow; empty if it could")
      .def("__repr__", [](const TokenLogProbability& one) {
        return fmt::format("TokenLogProbability(token={}, log_probability={})", one.token,
                           one.log_probability);
      });
  nb::class_<Generation>(m, "Generation", "The output that follows one prompt.")
      .def_ro("tokens", &Generation::tokens, "without the end token")
      .def_ro("text", &Generation::text, "the tokens' text")
      .def_prop_ro("finish_reason", &finish_reason, "'stop' or 'length'")
      .def_ro("stop_string", &Generation::stop_string,
              "the one that ended it; None: an end token or the length")
      .def_ro("drafted_tokens", &Generation::drafted_tokens,
              "with speculation: tokens that were drafted")
      .def_ro("accepted_tokens", &Generation::accepted_tokens,
              "with speculation: drafted tokens that were right")
      .def_ro("chosen", &Generation::chosen, "with top_log_probabilities: of each token")
      .def_ro("best", &Generation::best, "with top_log_probabilities: most probable first")
      .def("__str__", [](const Generation& one) { return one.text; })
      .def("__repr__", [](const Generation& one) { return repr("Generation", one.text); });
}

void bind_search(nb::module_& m) {
  nb::class_<AlignedWords>(m, "AlignedWords", "A pair of aligned words, counted from 0.")
      .def_ro("source", &AlignedWords::source, "a word of the source")
      .def_ro("target", &AlignedWords::target, "a word of the translation");
  nb::class_<Candidate>(m, "Candidate", "One output of a search.")
      .def_ro("text", &Candidate::text, "the tokens' text")
      .def_ro("alignment", &Candidate::alignment,
              "with alignments: for each word, the one of the source that it attends to most")
      .def_prop_ro(
          "tokens", [](const Candidate& one) { return one.hypothesis.tokens; },
          "without the prompt and the end token")
      .def_prop_ro(
          "log_probability", [](const Candidate& one) { return one.hypothesis.log_probability; },
          "natural, of all tokens")
      .def_prop_ro(
          "score", [](const Candidate& one) { return one.hypothesis.score; },
          "log_probability / length penalty (Wu et al. 2016, equation 14)")
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
      .def_ro("tokens", &Score::tokens, "of the text, or of the target")
      .def_ro("log_probabilities", &Score::log_probabilities,
              "natural logarithms, of the last tokens")
      .def_prop_ro("log_probability", &Score::log_probability, "of all scored tokens")
      .def_prop_ro("perplexity", &Score::perplexity,
                   "exp of the negative mean of log_probabilities");
  nb::class_<TokenProbability>(m, "TokenProbability", "A candidate and its probability.")
      .def_ro("token", &TokenProbability::token, "a token id")
      .def_ro("probability", &TokenProbability::probability, "of all tokens");
  nb::class_<FilledMask>(m, "FilledMask", "Candidates for a masked token.")
      .def_ro("position", &FilledMask::position, "in the tokens")
      .def_ro("best", &FilledMask::best, "most probable first");
  nb::class_<FilledText>(m, "FilledText", "A text and the candidates for its masked tokens.")
      .def_ro("tokens", &FilledText::tokens, "with special tokens")
      .def_ro("masks", &FilledText::masks, "in order of position");
}

void bind_labels(nb::module_& m) {
  nb::class_<LabelScore>(m, "LabelScore", "A label and its score.")
      .def_ro("label", &LabelScore::label, "its name in config.json")
      .def_ro("score", &LabelScore::score, "the probability; of a regression the value")
      .def("__repr__", [](const LabelScore& one) {
        return fmt::format("LabelScore(label='{}', score={})", one.label, one.score);
      });
  nb::class_<RankedDocument>(m, "RankedDocument", "A document and how well it answers a query.")
      .def_ro("index", &RankedDocument::index, "among the documents, from 0")
      .def_ro("score", &RankedDocument::score,
              "a probability; the logit where the model's files say so")
      .def("__repr__", [](const RankedDocument& one) {
        return fmt::format("RankedDocument(index={}, score={})", one.index, one.score);
      });
  nb::class_<Entity>(m, "Entity", "Neighbouring tokens with the same label.")
      .def_ro("label", &Entity::label, "without 'B-' and 'I-'")
      .def_ro("score", &Entity::score, "the mean of the tokens' probabilities")
      .def_ro("text", &Entity::text, "of the tokens, decoded")
      .def_ro("first_token", &Entity::first_token, "of LabelledText.tokens")
      .def_ro("end_token", &Entity::end_token, "the one after the last")
      .def_ro("start", &Entity::start, "in characters of the text")
      .def_ro("end", &Entity::end, "the one after the last, likewise")
      .def("__repr__", [](const Entity& one) {
        return fmt::format("Entity(label='{}', start={}, end={})", one.label, one.start, one.end);
      });
  nb::class_<LabelledText>(m, "LabelledText", "A text and its entities, in order.")
      .def_ro("tokens", &LabelledText::tokens, "with special tokens")
      .def_ro("entities", &LabelledText::entities, "in order");
}

}  // namespace

void bind_results(nb::module_& m) {
  bind_generation(m);
  bind_search(m);
  bind_scores(m);
  bind_labels(m);
}

}  // namespace heed::python

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "heed/confidence.h"
#include "model.h"
#include "value_class.h"

// What calls return, as read-only Python objects.
namespace heed::python {
namespace {

std::string finish_reason(const Generation& generation) {
  return std::string(name_of(generation.finish_reason));
}

void set_finish_reason(Generation& generation, const std::string& name) {
  generation.finish_reason = name == "stop" ? FinishReason::stop : FinishReason::length;
}

void bind_generation(nb::module_& m) {
  ValueClass<TokenLogProbability>(m, "TokenLogProbability", "A token and its natural logarithm.")
      .field("token", &TokenLogProbability::token, "a token id")
      .field("log_probability", &TokenLogProbability::log_probability,
             "natural, before penalties, biases and temperature")
      .field("forbidden", &TokenLogProbability::forbidden,
             "with free_log_probabilities: why the token could not follow; empty if it could")
      .finish();
  ValueClass<Generation>(m, "Generation", "The output that follows one prompt.")
      .field("text", &Generation::text, "the tokens' text")
      .field("tokens", &Generation::tokens, "without the end token")
      .field<std::string>("finish_reason", &finish_reason, set_finish_reason, "'stop' or 'length'")
      .field("stop_string", &Generation::stop_string,
             "the one that ended it; None: an end token or the length")
      .field("drafted_tokens", &Generation::drafted_tokens,
             "with speculation: tokens that were drafted")
      .field("accepted_tokens", &Generation::accepted_tokens,
             "with speculation: drafted tokens that were right")
      .field("chosen", &Generation::chosen, "with top_log_probabilities: of each token")
      .field("best", &Generation::best, "with top_log_probabilities: most probable first")
      .finish()
      .def("__str__", [](const Generation& one) { return one.text; });
}

void bind_search(nb::module_& m) {
  ValueClass<AlignedWords>(m, "AlignedWords", "A pair of aligned words, counted from 0.")
      .field("source", &AlignedWords::source, "a word of the source")
      .field("target", &AlignedWords::target, "a word of the translation")
      .finish();
  ValueClass<WordConfidence>(m, "WordConfidence", "A word and the probability that it is right.")
      .field("text", &WordConfidence::text, "as it stands in the translation")
      .field("confidence", &WordConfidence::confidence, "0 to 1")
      .finish();
  ValueClass<Candidate>(m, "Candidate", "One output of a search.")
      .field("text", &Candidate::text, "the tokens' text")
      .field("confidence", &Candidate::confidence,
             "with confidence: how probably it is right, 0 to 1")
      .field("words", &Candidate::words, "with confidence: the words, with that of each")
      .field("alignment", &Candidate::alignment,
             "with alignments: for each word, the one of the source that it attends to most")
      .field<std::vector<int32_t>>(
          "tokens", [](const Candidate& one) { return one.hypothesis.tokens; },
          [](Candidate& one, std::vector<int32_t> given) {
            one.hypothesis.tokens = std::move(given);
          },
          "without the prompt and the end token")
      .field<double>(
          "log_probability", [](const Candidate& one) { return one.hypothesis.log_probability; },
          [](Candidate& one, double given) { one.hypothesis.log_probability = std::move(given); },
          "natural, of all tokens")
      .field<double>(
          "score", [](const Candidate& one) { return one.hypothesis.score; },
          [](Candidate& one, double given) { one.hypothesis.score = std::move(given); },
          "log_probability / length penalty (Wu et al. 2016, equation 14)")
      .field<bool>(
          "complete", [](const Candidate& one) { return one.hypothesis.complete; },
          [](Candidate& one, bool given) { one.hypothesis.complete = given; },
          "whether the model ended it; otherwise the limit of tokens did")
      .finish()
      .def("__str__", [](const Candidate& one) { return one.text; });
  ValueClass<Translation>(m, "Translation", "A line of text and its translations.")
      .field("source", &Translation::source, "its tokens, with end of sequence")
      .field("candidates", &Translation::candidates, "best first; empty for an empty line")
      .field("pivot", &Translation::pivot, "of two steps: the text between")
      .derived("text", &Translation::text, "the best translation")
      .finish()
      .def("__str__", &Translation::text);
  ValueClass<ConfidenceReport>(m, "ConfidenceReport", "How far confidences are from references.")
      .field("sentences", &ConfidenceReport::sentences, "translations")
      .field("words", &ConfidenceReport::words, "of the translations")
      .field("kept_words", &ConfidenceReport::kept_words, "the share that references keep")
      .field("kept_sentences", &ConfidenceReport::kept_sentences, "the mean share of sentences")
      .field("word_error", &ConfidenceReport::word_error, "expected calibration error of words")
      .field("sentence_error", &ConfidenceReport::sentence_error, "of sentences")
      .field("uncalibrated_word_error", &ConfidenceReport::uncalibrated_word_error,
             "of the model's own probabilities")
      .field("uncalibrated_sentence_error", &ConfidenceReport::uncalibrated_sentence_error,
             "likewise")
      .finish();
  ValueClass<DocumentSentence>(m, "DocumentSentence", "A sentence of a document, or a part of one.")
      .field("paragraph", &DocumentSentence::paragraph, "counted from 0")
      .field("source", &DocumentSentence::source, "its text")
      .field("translation", &DocumentSentence::translation, "with alignments where needed")
      .finish();
  ValueClass<DocumentTranslation>(m, "DocumentTranslation", "The translation of a document.")
      .field("text", &DocumentTranslation::text, "the translated document")
      .field("sentences", &DocumentTranslation::sentences, "in order")
      .finish()
      .def("__str__", [](const DocumentTranslation& one) { return one.text; });
}

void bind_scores(nb::module_& m) {
  ValueClass<Score>(m, "Score", "The probability of a text.")
      .field("tokens", &Score::tokens, "of the text, or of the target")
      .field("log_probabilities", &Score::log_probabilities,
             "natural logarithms, of the last tokens")
      .derived("log_probability", &Score::log_probability, "of all scored tokens")
      .derived("perplexity", &Score::perplexity, "exp of the negative mean of log_probabilities")
      .finish();
  ValueClass<SparseEmbedding>(m, "SparseEmbedding", "A vector over the vocabulary, mostly zeros.")
      .field("indices", &SparseEmbedding::indices, "the tokens with an element above zero")
      .field("values", &SparseEmbedding::values, "their elements")
      .finish();
  ValueClass<WindowEmbedding>(m, "WindowEmbedding", "A window of a text, and its vector.")
      .field("tokens", &WindowEmbedding::tokens, "of the text")
      .field("start", &WindowEmbedding::start, "in characters of the text")
      .field("end", &WindowEmbedding::end, "the one after the last, likewise")
      .field("vector", &WindowEmbedding::vector, "as Model.embed() gives it")
      .finish();
  ValueClass<TokenProbability>(m, "TokenProbability", "A candidate and its probability.")
      .field("token", &TokenProbability::token, "a token id")
      .field("probability", &TokenProbability::probability, "of all tokens")
      .finish();
  ValueClass<FilledMask>(m, "FilledMask", "Candidates for a masked token.")
      .field("position", &FilledMask::position, "in the tokens")
      .field("best", &FilledMask::best, "most probable first")
      .finish();
  ValueClass<FilledText>(m, "FilledText", "A text and the candidates for its masked tokens.")
      .field("tokens", &FilledText::tokens, "with special tokens")
      .field("masks", &FilledText::masks, "in order of position")
      .finish();
}

void bind_labels(nb::module_& m) {
  ValueClass<LabelScore>(m, "LabelScore", "A label and its score.")
      .field("label", &LabelScore::label, "its name in config.json")
      .field("score", &LabelScore::score, "the probability; of a regression the value")
      .finish();
  ValueClass<RankedDocument>(m, "RankedDocument", "A document and how well it answers a query.")
      .field("index", &RankedDocument::index, "among the documents, from 0")
      .field("score", &RankedDocument::score,
             "a probability; the logit where the model's files say so")
      .finish();
  ValueClass<Entity>(m, "Entity", "Neighbouring tokens with the same label.")
      .field("label", &Entity::label, "without 'B-' and 'I-'")
      .field("score", &Entity::score, "the mean of the tokens' probabilities")
      .field("text", &Entity::text, "of the tokens, decoded")
      .field("first_token", &Entity::first_token, "of LabelledText.tokens")
      .field("end_token", &Entity::end_token, "the one after the last")
      .field("start", &Entity::start, "in characters of the text")
      .field("end", &Entity::end, "the one after the last, likewise")
      .finish();
  ValueClass<LabelledText>(m, "LabelledText", "A text and its entities, in order.")
      .field("tokens", &LabelledText::tokens, "with special tokens")
      .field("entities", &LabelledText::entities, "in order")
      .finish();
}

}  // namespace

void bind_results(nb::module_& m) {
  bind_generation(m);
  bind_search(m);
  bind_scores(m);
  bind_labels(m);
}

}  // namespace heed::python

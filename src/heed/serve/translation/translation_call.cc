#include "heed/serve/translation/translation_call.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "heed/serve/generation_call.h"
#include "heed/serve/prompts.h"

namespace heed::serve {
namespace {

/// The lines of all texts, and where they belong.
struct Lines {
  struct Place {
    size_t text;           // of the call's
    int64_t request;       // among the requests; -1: an empty line, which stays empty
    std::string_view end;  // "\n", "\r\n", or nothing after the last line
  };
  std::vector<std::string> lines;             // of the requests
  std::vector<std::vector<int32_t>> sources;  // their tokens
  std::vector<Place> places;                  // of all lines, in order

  /// `read` returns the tokens of a line; none if there is nothing to translate.
  Lines(const std::vector<std::string>& texts,
        const std::function<std::vector<int32_t>(std::string_view)>& read) {
    for (size_t i = 0; i < texts.size(); ++i) {
      std::string_view rest = texts[i];
      while (true) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        const bool last = end == rest.size();
        std::string_view line = rest.substr(0, end);
        const bool windows = line.ends_with('\r');
        if (windows) line.remove_suffix(1);
        std::vector<int32_t> tokens = line.empty() ? std::vector<int32_t>() : read(line);
        places.push_back({i, tokens.empty() ? -1 : std::ssize(sources),
                          last ? (windows ? "\r" : "") : (windows ? "\r\n" : "\n")});
        if (!tokens.empty()) {
          lines.emplace_back(line);
          sources.push_back(std::move(tokens));
        }
        if (last) break;
        rest.remove_prefix(end + 1);
      }
    }
  }
};

/// Appends the words of a line that has confidence, which counts by their number.
void add_words(const Candidate& line, Candidate& whole) {
  if (!line.confidence) return;
  const auto before = static_cast<double>(whole.words.size());
  const auto own = static_cast<double>(line.words.size());
  if (before + own > 0)
    whole.confidence =
        (before * whole.confidence.value_or(0) + own * *line.confidence) / (before + own);
  whole.words.insert(whole.words.end(), line.words.begin(), line.words.end());
}

/// Puts the translations of lines together.
std::vector<TranslatedText> joined(const Lines& lines, size_t texts,
                                   const std::vector<std::vector<Candidate>>& translations) {
  std::vector<TranslatedText> result(texts);
  std::vector<int64_t> count(texts);
  for (const Lines::Place& place : lines.places) ++count[place.text];
  for (const Lines::Place& place : lines.places) {
    TranslatedText& text = result[place.text];
    if (place.request >= 0) {
      const std::vector<Candidate>& candidates = translations[static_cast<size_t>(place.request)];
      text.text += candidates.front().text;
      if (count[place.text] == 1) text.candidates = candidates;
    }
    text.text += place.end;
  }
  // Of several lines there is one candidate: the best of each. Its confidence is that of a word
  // drawn from all.
  for (size_t i = 0; i < texts; ++i) {
    if (count[i] == 1 || result[i].text.empty()) continue;
    Candidate whole{.text = result[i].text, .hypothesis = {}};
    for (const Lines::Place& place : lines.places) {
      if (place.text != i || place.request < 0) continue;
      const Hypothesis& line = translations[static_cast<size_t>(place.request)].front().hypothesis;
      whole.hypothesis.log_probability += line.log_probability;
      whole.hypothesis.score += line.score;
      add_words(translations[static_cast<size_t>(place.request)].front(), whole);
    }
    result[i].candidates.push_back(std::move(whole));
  }
  return result;
}

class TranslationCall : public GenerationCall {
 public:
  TranslationCall(const ModelCall& call, const TranslateOptions& options, size_t texts,
                  OnTranslated done)
      : GenerationCall(call), options_(options), texts_(texts), done_(std::move(done)) {}

  void start(const Model& model, Lines lines, const std::string& field) {
    lines_.emplace(std::move(lines));
    translations_.resize(lines_->sources.size());
    const auto required = required_texts(model);
    std::vector<Request> requests;
    std::vector<int64_t> tokens;
    for (const std::vector<int32_t>& source : lines_->sources) {
      requests.push_back({.prompt = source,
                          .search = options_.search,
                          .source_language = options_.source_language,
                          .target_language = options_.target_language,
                          .alignments = options_.alignments,
                          .required_texts = required[requests.size()],
                          .confidence = options_.confidence});
      tokens.push_back(std::ssize(source));
    }
    if (requests.empty()) return on_end();
    GenerationCall::start(std::move(requests), tokens, field);
  }

 private:
  std::vector<std::vector<RequiredText>> required_texts(const Model& model) const {
    try {
      return model.required_texts(lines_->lines, options_);
    } catch (const InputError& error) {
      throw invalid_request(options_.glossary.empty() ? "do_not_translate" : "glossary",
                            error.what());
    }
  }

  void on_delta(size_t i, const Delta& delta) override {
    if (delta.candidates) translations_[i] = *delta.candidates;
  }

  void on_end() override {
    int64_t tokens = 0;
    for (const auto& candidates : translations_)
      for (const Candidate& candidate : candidates)
        tokens += std::ssize(candidate.hypothesis.tokens);
    call().tokens_generated(tokens);
    done_(call(), joined(*lines_, texts_, translations_), prompt_tokens(), tokens);
  }

  const TranslateOptions options_;
  const size_t texts_;
  const OnTranslated done_;
  std::optional<Lines> lines_;
  std::vector<std::vector<Candidate>> translations_;
};

}  // namespace

void translate(const ModelCall& call, const std::vector<std::string>& texts,
               const TranslateOptions& options, const std::string& field, OnTranslated done) {
  const Model& model = call.model();
  Lines lines(texts, [&](std::string_view line) -> std::vector<int32_t> {
    refuse_overlong_text(model, line, field);
    return model.source_tokens(line, options);
  });
  std::make_shared<TranslationCall>(call, options, texts.size(), std::move(done))
      ->start(model, std::move(lines), field);
}

}  // namespace heed::serve

#include "heed/serve/translation_call.h"

#include <numeric>
#include <string_view>
#include <utility>

#include "heed/serve/generation_call.h"

namespace heed::serve {
namespace {

/// The lines of all texts, and where they belong.
struct Lines {
  struct Place {
    size_t text;           // of the call's
    int64_t request;       // among the requests; -1: an empty line, which stays empty
    std::string_view end;  // "\n", "\r\n", or nothing after the last line
  };
  std::vector<std::string> lines;  // of the requests
  std::vector<Place> places;       // of all lines, in order

  explicit Lines(const std::vector<std::string>& texts) {
    for (size_t i = 0; i < texts.size(); ++i) {
      std::string_view rest = texts[i];
      while (true) {
        const size_t end = std::min(rest.find('\n'), rest.size());
        const bool last = end == rest.size();
        std::string_view line = rest.substr(0, end);
        const bool windows = line.ends_with('\r');
        if (windows) line.remove_suffix(1);
        const bool empty = line.empty();
        places.push_back({i, empty ? -1 : std::ssize(lines),
                          last ? (windows ? "\r" : "") : (windows ? "\r\n" : "\n")});
        if (!empty) lines.emplace_back(line);
        if (last) break;
        rest.remove_prefix(end + 1);
      }
    }
  }
};

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
  // Of several lines there is one candidate: the best of each.
  for (size_t i = 0; i < texts; ++i) {
    if (count[i] == 1 || result[i].text.empty()) continue;
    Candidate whole{.text = result[i].text, .hypothesis = {}};
    for (const Lines::Place& place : lines.places) {
      if (place.text != i || place.request < 0) continue;
      const Hypothesis& line = translations[static_cast<size_t>(place.request)].front().hypothesis;
      whole.hypothesis.log_probability += line.log_probability;
      whole.hypothesis.score += line.score;
    }
    result[i].candidates.push_back(std::move(whole));
  }
  return result;
}

class TranslationCall : public GenerationCall {
 public:
  TranslationCall(const ModelCall& call, Lines lines, size_t texts, OnTranslated done)
      : GenerationCall(call),
        lines_(std::move(lines)),
        texts_(texts),
        done_(std::move(done)),
        translations_(lines_.lines.size()) {}

  const Lines& lines() const { return lines_; }

  /// Line i has been translated; on the compute thread.
  void set(size_t i, std::vector<Candidate> candidates) {
    translations_[i] = std::move(candidates);
    ++translated_;
  }
  bool complete() const { return translated_ == translations_.size(); }

  void on_end() override {
    int64_t tokens = 0;
    for (const auto& candidates : translations_)
      for (const Candidate& candidate : candidates)
        tokens += std::ssize(candidate.hypothesis.tokens);
    call().tokens_generated(tokens);
    done_(call(), joined(lines_, texts_, translations_), prompt_tokens(), tokens);
  }

 private:
  void on_delta(size_t i, const Delta& delta) override {
    if (delta.candidates) set(i, *delta.candidates);
  }

  const Lines lines_;
  const size_t texts_;
  const OnTranslated done_;
  std::vector<std::vector<Candidate>> translations_;
  size_t translated_ = 0;
};

}  // namespace

void translate(const ModelCall& call, const std::vector<std::string>& texts,
               const TranslateOptions& options, const std::string& field, OnTranslated done) {
  const Model& model = call.target.model->model();
  auto state = std::make_shared<TranslationCall>(call, Lines(texts), texts.size(), std::move(done));
  const std::vector<std::string>& lines = state->lines().lines;
  std::vector<int64_t> tokens;
  for (const std::string& line : lines) tokens.push_back(std::ssize(model.tokenize(line)));
  if (lines.empty()) return state->on_end();
  if (!options.alignments) {
    std::vector<Request> requests;
    for (const std::string& line : lines)
      requests.push_back({.prompt = line,
                          .search = options.search,
                          .source_language = options.source_language,
                          .target_language = options.target_language});
    return state->start(std::move(requests), tokens, field);
  }
  state->enqueue(tokens, field);
  for (size_t i = 0; i < lines.size(); ++i)
    call.target.model->run(call.call, tokens[i], [state, i, options, target = call.target.model] {
      state->set(i, target->model().translate(state->lines().lines[i], options).candidates);
      if (state->complete()) state->on_end();
    });
}

}  // namespace heed::serve

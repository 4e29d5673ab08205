#include "heed/engine/distill/teacher_text.h"

#include <algorithm>
#include <unordered_set>

#include "heed/base/error.h"
#include "heed/base/parse_number.h"
#include "heed/base/text_lines.h"
#include "heed/data/fingerprint.h"
#include "heed/distribute/join.h"
#include "heed/engine/lines/answer_output.h"
#include "heed/engine/loaded_model.h"
#include "heed/engine/model_fingerprint.h"

namespace heed::engine {
namespace {

/// Lines that are translated between two looks at whether to stop.
constexpr size_t kChunkLines = 512;
constexpr std::string_view kColumn = " ||| ";

/// As `heed translate --alignments` writes it.
std::string written(const Translation& line, int64_t number) {
  if (line.candidates.empty()) return "\n";
  const Candidate& best = line.candidates.front();
  return fmt::format("{} ||| {} ||| {:.6f} ||| {}\n", number - 1, best.text, best.hypothesis.score,
                     pharaoh(best.alignment));
}

/// The last column of a line, which it loses.
std::optional<std::string_view> take_last_column(std::string_view& line) {
  const size_t begin = line.rfind(kColumn);
  if (begin == line.npos) return std::nullopt;
  const std::string_view column = line.substr(begin + kColumn.size());
  line = line.substr(0, begin);
  return column;
}

int64_t words_in(std::string_view text) {
  int64_t words = 0;
  for (size_t i = 0; i < text.size(); ++i)
    words += text[i] != ' ' && (i == 0 || text[i - 1] == ' ');
  return words;
}

double score_per_word(const TaughtLine& line) {
  return line.score / static_cast<double>(words_in(line.target) + 1);
}

}  // namespace

bool translate_text(const Model& teacher, const std::vector<std::string>& lines,
                    const std::filesystem::path& file, const DistillOptions& options,
                    const DistillCallbacks& callbacks) {
  AnswerOutput output(0, file, fingerprint_of_files(loaded(teacher), distribute::hash_of_build()));
  const auto all = std::ssize(lines);
  uint64_t hash = 0;
  auto done = static_cast<size_t>(std::min(output.progress().lines, all));
  for (size_t i = 0; i < done; ++i) hash = data::hash_after(hash, lines[i]);
  if (done > 0) output.require_same_lines(static_cast<int64_t>(done), hash, options.text.string());
  TranslateOptions how{.alignments = true};
  how.search.num_beams = options.num_beams;
  how.search.scores = true;
  while (done < lines.size()) {
    if (callbacks.on_translated) callbacks.on_translated(static_cast<int64_t>(done), all);
    if (callbacks.train.stop_requested && callbacks.train.stop_requested()) {
      output.finish();
      return false;
    }
    const size_t end = std::min(done + kChunkLines, lines.size());
    const std::vector<std::string> chunk(lines.begin() + static_cast<std::ptrdiff_t>(done),
                                         lines.begin() + static_cast<std::ptrdiff_t>(end));
    auto number = static_cast<int64_t>(done);
    std::vector<LineAnswer> answers;
    for (const Translation& line : teacher.translate_batch(chunk, how, number + 1))
      answers.emplace_back(written(line, ++number));
    output.put(answers);
    for (const std::string& line : chunk) hash = data::hash_after(hash, line);
    done = end;
    output.set_progress(static_cast<int64_t>(done), hash);
  }
  output.finish();
  if (callbacks.on_translated) callbacks.on_translated(all, all);
  return true;
}

std::vector<TaughtLine> read_translations(const std::filesystem::path& file,
                                          const std::vector<std::string>& lines) {
  std::vector<TaughtLine> taught;
  size_t count = 0;
  for_each_line(file, [&](std::string_view line, size_t number) {
    count = number;
    if (line.empty() || number > lines.size()) return;
    const auto alignment = take_last_column(line), score = take_last_column(line);
    const size_t text = line.find(kColumn);
    const auto value = score ? parse_number<double>(*score) : std::nullopt;
    require(alignment && value && text != line.npos,
            "{} line {}: expected number, text, score and alignment, separated by |||",
            file.string(), number);
    taught.push_back({lines[number - 1], std::string(line.substr(text + kColumn.size())), *value,
                      std::string(*alignment)});
  });
  require(count == lines.size(), "{} has {} lines, the text has {}", file.string(), count,
          lines.size());
  std::erase_if(taught, [](const TaughtLine& line) { return line.target.empty(); });
  return taught;
}

std::string TaughtFilterReport::text() const {
  return fmt::format(
      "{} of {} translations kept; dropped: {} repeated, {} by length ratio, {} improbable", kept,
      kept + repeated + unbalanced + improbable, repeated, unbalanced, improbable);
}

TaughtFilterReport filter_taught(std::vector<TaughtLine>& lines, double max_ratio, double drop) {
  constexpr int64_t kSlack = 2;
  TaughtFilterReport report;
  std::unordered_set<std::string> seen;
  std::erase_if(lines, [&](const TaughtLine& line) {
    const auto [shorter, longer] = std::minmax({words_in(line.source), words_in(line.target)});
    const bool is_repeated = !seen.insert(line.source).second;
    const bool is_unbalanced =
        static_cast<double>(longer - kSlack) > max_ratio * static_cast<double>(shorter);
    report.repeated += is_repeated;
    report.unbalanced += !is_repeated && is_unbalanced;
    return is_repeated || is_unbalanced;
  });
  std::vector<double> scores;
  for (const TaughtLine& line : lines) scores.push_back(score_per_word(line));
  const auto dropped = static_cast<std::ptrdiff_t>(drop * static_cast<double>(scores.size()));
  if (dropped > 0) {
    std::ranges::nth_element(scores, scores.begin() + dropped);
    const double least = scores[static_cast<size_t>(dropped)];
    report.improbable = static_cast<int64_t>(
        std::erase_if(lines, [&](const TaughtLine& line) { return score_per_word(line) < least; }));
  }
  report.kept = std::ssize(lines);
  return report;
}

}  // namespace heed::engine

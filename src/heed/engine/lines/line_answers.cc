#include "heed/engine/lines/line_answers.h"

#include <cstring>

#include "heed/distribute/messenger.h"

namespace heed::engine {
namespace {

/// Appends to `answers` those of the lines; the error of the first that has none.
std::string answer_part(const NumberedLines& lines, const AnswerLines& answer,
                        std::vector<LineAnswer>& answers) {
  const size_t before = answers.size();
  try {
    answer(lines, answers);
    return "";
  } catch (const distribute::RankMissing&) {
    throw;  // no line is to blame
  } catch (const ReportedElsewhere&) {
    throw;
  } catch (const Error& error) {
    if (answers.size() > before || lines.lines.size() == 1) return error.what();
  }
  const auto half = static_cast<std::ptrdiff_t>(lines.lines.size() / 2);
  const NumberedLines first{lines.first, {lines.lines.begin(), lines.lines.begin() + half}};
  const NumberedLines second{lines.first + half, {lines.lines.begin() + half, lines.lines.end()}};
  const std::string error = answer_part(first, answer, answers);
  return error.empty() ? answer_part(second, answer, answers) : error;
}

void put(std::string& bytes, uint64_t number) {
  bytes.append(reinterpret_cast<const char*>(&number), sizeof(number));
}

void put(std::string& bytes, std::string_view text) {
  put(bytes, text.size());
  bytes.append(text);
}

/// Reads what put() has written. Ranks are the same build of heed.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  bool at_end() const { return bytes_.empty(); }
  uint64_t number() {
    uint64_t number = 0;
    const std::string_view read = take(sizeof(number));
    std::memcpy(&number, read.data(), sizeof(number));
    return number;
  }
  std::string_view text() { return take(number()); }

 private:
  std::string_view take(uint64_t count) {
    require(count <= bytes_.size(), "a message between ranks ends early");
    const std::string_view taken = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return taken;
  }

  std::string_view bytes_;
};

}  // namespace

Answers answer_all(const NumberedLines& lines, const AnswerLines& answer) {
  Answers all;
  all.error = answer_part(lines, answer, all.answers);
  return all;
}

std::string to_bytes(const NumberedLines& lines) {
  std::string bytes;
  put(bytes, static_cast<uint64_t>(lines.first));
  for (const std::string& line : lines.lines) put(bytes, line);
  return bytes;
}

NumberedLines lines_of(std::string_view bytes) {
  Reader reader(bytes);
  NumberedLines lines{.first = static_cast<int64_t>(reader.number()), .lines = {}};
  while (!reader.at_end()) lines.lines.emplace_back(reader.text());
  return lines;
}

std::string to_bytes(const Answers& answers) {
  std::string bytes;
  put(bytes, answers.error);
  for (const auto& [text, rows] : answers.answers) {
    put(bytes, text);
    put(bytes,
        std::string_view(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(double)));
  }
  return bytes;
}

Answers answers_of(std::string_view bytes) {
  Reader reader(bytes);
  Answers answers;
  answers.error = reader.text();
  while (!reader.at_end()) {
    LineAnswer& answer = answers.answers.emplace_back(std::string(reader.text()));
    const std::string_view rows = reader.text();
    answer.rows.resize(rows.size() / sizeof(double));
    std::memcpy(answer.rows.data(), rows.data(), rows.size());
  }
  return answers;
}

}  // namespace heed::engine

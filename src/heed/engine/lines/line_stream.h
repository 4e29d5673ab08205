#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace heed::engine {

/// A source of lines.
class LineSource {
 public:
  virtual ~LineSource() = default;
  /// At most `most` lines; empty at the end.
  virtual std::vector<std::string> next(size_t most) = 0;
  /// One of `parts` equal parts, rounded up, of the lines that have arrived; at most `most`. Does
  /// not wait. Sets `ended` when no lines will follow.
  virtual std::vector<std::string> next_available(size_t parts, size_t most, bool& ended) = 0;
};

/// Lines that are in memory.
class InMemoryLines : public LineSource {
 public:
  explicit InMemoryLines(std::vector<std::string> lines) : lines_(std::move(lines)) {}
  std::vector<std::string> next(size_t most) override;
  std::vector<std::string> next_available(size_t parts, size_t most, bool& ended) override;

 private:
  std::vector<std::string> lines_;
  size_t next_ = 0;
};

/// Lines as they arrive. next() waits for at least one line and returns all lines read so far:
/// large batches of a file, a single line typed at a terminal.
class LineStream : public LineSource {
 public:
  /// See LineOptions::read. `name` is that of the input. Reads up to `ahead` lines that nobody has
  /// asked for yet.
  LineStream(std::function<bool(std::string& line)> read, std::string name, size_t ahead);
  ~LineStream() override;
  LineStream(const LineStream&) = delete;
  LineStream& operator=(const LineStream&) = delete;

  /// Both throw Error on a line that is not valid UTF-8, and what `read` throws,
  /// after all lines before it have been returned.
  std::vector<std::string> next(size_t most = std::numeric_limits<size_t>::max()) override;
  std::vector<std::string> next_available(size_t parts, size_t most, bool& ended) override;

 private:
  struct Shared;

  std::vector<std::string> take(size_t most);

  std::string name_;
  std::shared_ptr<Shared> shared_;
  size_t returned_ = 0;  // number of lines
};

}  // namespace heed::engine

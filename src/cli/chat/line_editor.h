#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace heed::cli {

/// Reads lines from the terminal, with editing and history (libedit), or plainly where standard
/// input is no terminal or libedit is not installed.
class LineEditor {
 public:
  /// The history is read from `history` and written to it when this is destroyed; empty: none is
  /// kept. Throws Error when the file exists and cannot be read.
  explicit LineEditor(std::filesystem::path history);
  ~LineEditor();
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  /// Whether somebody types at a terminal.
  bool interactive() const;
  /// The next line without its end, the first one of a file without a byte order mark; nothing at
  /// the end of input. Ctrl-C discards the line and prompts again.
  std::optional<std::string> read(const std::string& prompt);

 private:
  class Terminal;

  std::unique_ptr<Terminal> terminal_;  // null: lines are read plainly
  bool interactive_;
  bool begun_ = false;  // a line was read plainly
};

}  // namespace heed::cli

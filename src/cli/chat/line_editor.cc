#include "cli/chat/line_editor.h"

#include <histedit.h>
#include <unistd.h>

#include <cerrno>
#include <clocale>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <utility>

#include "heed/base/byte_order_mark.h"
#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/shared_library.h"

namespace heed::cli {
namespace {

constexpr int kHistoryLines = 1000;

void ignore_signal(int) {}

/// While it lives, SIGINT interrupts a read instead of ending the program.
class InterruptibleRead {
 public:
  InterruptibleRead() {
    struct sigaction action {};
    action.sa_handler = ignore_signal;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &previous_);
  }
  ~InterruptibleRead() { sigaction(SIGINT, &previous_, nullptr); }
  InterruptibleRead(const InterruptibleRead&) = delete;
  InterruptibleRead& operator=(const InterruptibleRead&) = delete;

 private:
  struct sigaction previous_ {};
};

void remove_line_end(std::string& line) {
  while (line.ends_with('\n') || line.ends_with('\r')) line.pop_back();
}

}  // namespace

/// libedit on the terminal.
class LineEditor::Terminal {
 public:
  explicit Terminal(std::filesystem::path file)
      : library_({"libedit.so.2", "libedit.so.0", "libedit.3.dylib"}, "editing lines", "libedit2"),
        file_(std::move(file)) {
    library_.find(init_, "el_init");
    library_.find(end_, "el_end");
    library_.find(set_, "el_set");
    library_.find(get_, "el_get");
    library_.find(gets_, "el_gets");
    library_.find(reset_, "el_reset");
    library_.find(history_init_, "history_init");
    library_.find(history_end_, "history_end");
    library_.find(history_call_, "history");
    std::setlocale(LC_CTYPE, "");  // libedit reads characters of more than one byte by it
    history_ = history_init_();
    editor_ = init_("heed", stdin, stdout, stderr);
    require(history_ != nullptr && editor_ != nullptr, "lines cannot be edited on this terminal");
    HistEvent event;
    history_call_(history_, &event, H_SETSIZE, kHistoryLines);
    history_call_(history_, &event, H_SETUNIQUE, 1);
    if (!file_.empty() && path_exists(file_))
      history_call_(history_, &event, H_LOAD, file_.c_str());
    set_(editor_, EL_CLIENTDATA, this);
    set_(editor_, EL_PROMPT, &Terminal::prompt_of);
    set_(editor_, EL_EDITOR, "emacs");
    set_(editor_, EL_HIST, history_call_, history_);
    set_(editor_, EL_ADDFN, "interrupt", "Discards the line", &Terminal::interrupt);
    set_(editor_, EL_BIND, "^C", "interrupt", nullptr);
  }
  ~Terminal() {
    HistEvent event;
    if (!file_.empty()) history_call_(history_, &event, H_SAVE, file_.c_str());
    end_(editor_);
    history_end_(history_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  std::optional<std::string> read(const std::string& prompt) {
    prompt_ = prompt;
    const InterruptibleRead interruptible;
    for (;;) {
      int count = 0;
      interrupted_ = false;
      // el_gets() would print the prompt first, and a key pressed in between could be lost.
      set_(editor_, EL_PREP_TERM, 1);
      // Ctrl-C is a key: a signal that comes between two reads would interrupt neither.
      // EL_PREP_TERM may take the character from the terminal again.
      set_(editor_, EL_SETTY, "-d", "intr=", nullptr);
      const char* const text = gets_(editor_, &count);
      if (text != nullptr && count > 0) {
        std::string line(text, static_cast<size_t>(count));
        remove_line_end(line);
        HistEvent event;
        if (!line.empty()) history_call_(history_, &event, H_ENTER, line.c_str());
        return line;
      }
      const bool interrupted = interrupted_ || (count < 0 && errno == EINTR);
      std::fputs("\n", stdout);
      if (!interrupted) return std::nullopt;
      reset_(editor_);
    }
  }

 private:
  /// Libedit gives back what EL_CLIENTDATA was set to.
  static Terminal& of(EditLine* editor) {
    void* self = nullptr;
    get_(editor, EL_CLIENTDATA, &self);
    return *static_cast<Terminal*>(self);
  }
  // Called by libedit.
  static char* prompt_of(EditLine* editor) { return of(editor).prompt_.data(); }
  static unsigned char interrupt(EditLine* editor, int) {
    of(editor).interrupted_ = true;
    return CC_EOF;
  }

  SharedLibrary library_;
  std::filesystem::path file_;
  std::string prompt_;
  bool interrupted_ = false;  // the line, by Ctrl-C
  EditLine* editor_ = nullptr;
  History* history_ = nullptr;
  decltype(el_init)* init_ = nullptr;
  decltype(el_end)* end_ = nullptr;
  decltype(el_set)* set_ = nullptr;
  decltype(el_gets)* gets_ = nullptr;
  static inline decltype(el_get)* get_ = nullptr;
  decltype(el_reset)* reset_ = nullptr;
  decltype(history_init)* history_init_ = nullptr;
  decltype(history_end)* history_end_ = nullptr;
  decltype(history)* history_call_ = nullptr;
};

LineEditor::LineEditor(std::filesystem::path history) : interactive_(::isatty(STDIN_FILENO) == 1) {
  if (!interactive_ || ::isatty(STDOUT_FILENO) != 1) return;
  try {
    terminal_ = std::make_unique<Terminal>(std::move(history));
  } catch (const Error& error) {
    std::fprintf(stderr, "heed: lines cannot be edited: %s\n", error.what());
  }
}
LineEditor::~LineEditor() = default;

bool LineEditor::interactive() const { return interactive_; }

std::optional<std::string> LineEditor::read(const std::string& prompt) {
  if (terminal_) return terminal_->read(prompt);
  if (interactive_) std::cout << prompt << std::flush;
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  if (!std::exchange(begun_, true))
    line.erase(0, line.size() - without_byte_order_mark(line).size());
  remove_line_end(line);
  return line;
}

}  // namespace heed::cli

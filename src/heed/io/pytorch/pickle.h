#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "heed/io/pytorch/pickle_bytes.h"
#include "heed/io/pytorch/pickle_objects.h"

namespace heed::io {

/// Interprets a pickle (protocols 1 to 5 of Python's pickletools) as far as torch.save writes them.
/// A pickle is a program that may call any function of Python by its name. Here there is nothing to
/// call: a name is looked up in a closed list (known_globals.h), and one that is not in it ends the
/// reading before its arguments are made.
class Pickle {
 public:
  /// Reads `file` from byte `begin`. Objects refer to it.
  Pickle(std::span<const std::byte> file, size_t begin, PickleObjects& objects)
      : bytes_(file, begin, objects.file()), objects_(objects) {}

  /// The value that the pickle makes. Throws Error that names the file, and the global or the
  /// instruction that is not read, when it asks for one, when it is damaged, and when it needs more
  /// memory than `objects` may take.
  PickleValue read();
  /// Where it ends in the file.
  size_t end() const { return bytes_.position(); }

 private:
  // Each reads the instructions of its kind. Returns false for others.
  bool read_scalar(uint8_t instruction);
  bool read_text(uint8_t instruction);
  bool read_container(uint8_t instruction);
  bool read_memo(uint8_t instruction);
  bool read_call(uint8_t instruction);
  [[noreturn]] void refuse(uint8_t instruction);

  void push(PickleValue value);
  PickleValue pop();
  PickleValue top();
  /// The values behind the last mark, which they lose.
  std::vector<PickleValue> pop_to_mark();
  void push_tuple(size_t size);
  void append_all(const std::vector<PickleValue>& items);
  void insert_all(const std::vector<PickleValue>& items);
  void discard();
  void remember(uint64_t index);
  void recall(uint64_t index);
  void push_global(std::string_view module, std::string_view name);
  void call();
  void set_state();

  PickleBytes bytes_;
  PickleObjects& objects_;
  std::vector<PickleValue> stack_;
  size_t highest_stack_ = 0;
  std::vector<size_t> marks_;  // heights of the stack
  size_t highest_marks_ = 0;
  std::unordered_map<uint64_t, PickleValue> memo_;
};

}  // namespace heed::io

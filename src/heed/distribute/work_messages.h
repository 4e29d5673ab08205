#pragma once

#include <chrono>
#include <cstring>
#include <string>
#include <string_view>

#include "heed/base/error.h"

namespace heed::distribute {

/// The letters of share_work().
enum class WorkMessage : char {
  hello = 'h',   // to rank 0: `number` is the fingerprint
  result = 'r',  // to rank 0: of the piece `number`
  failed = 'f',  // to rank 0: an error message
  bye = 'b',     // to rank 0: the last letter
  piece = 'p',   // of rank 0
  end = 'e',     // of rank 0: no piece will follow
  stop = 's',    // of rank 0, which reports an error
};

inline std::string write_work(WorkMessage kind, uint64_t number = 0, std::string_view bytes = "") {
  std::string letter(1 + sizeof(number), static_cast<char>(kind));
  std::memcpy(letter.data() + 1, &number, sizeof(number));
  return letter.append(bytes);
}

struct ReadWork {
  WorkMessage kind;
  uint64_t number = 0;
  std::string_view bytes;  // of the letter
};

inline ReadWork read_work(std::string_view letter) {
  ReadWork read{};
  require(letter.size() > sizeof(read.number), "a message between ranks has {} bytes",
          letter.size());
  read.kind = static_cast<WorkMessage>(letter[0]);
  std::memcpy(&read.number, letter.data() + 1, sizeof(read.number));
  read.bytes = letter.substr(1 + sizeof(read.number));
  return read;
}

/// How long the group's thread sleeps when nothing moves. A rank has its next piece before it has
/// done one, so it does not wait for this.
constexpr std::chrono::milliseconds kWorkPause{1};
/// How long rank 0 tries to tell the others that it ends.
constexpr std::chrono::milliseconds kWorkStopping{200};
/// How long ranks wait for their last messages. One that is left makes MPI complain.
constexpr std::chrono::seconds kWorkLeave{5};

}  // namespace heed::distribute

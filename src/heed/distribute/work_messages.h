#pragma once

#include <chrono>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>

#include "heed/distribute/messenger.h"

namespace heed::distribute {

/// The messages of share_work() and run_spmd().
enum class WorkMessage : char {
  hello = 'h',   // to rank 0: `number` is the fingerprint
  result = 'r',  // to rank 0: of the piece `number`
  failed = 'f',  // to rank 0: an error message
  bye = 'b',     // to rank 0: the last message
  piece = 'p',   // of rank 0
  end = 'e',     // of rank 0: no piece will follow
  stop = 's',    // of rank 0, which reports an error
};

inline std::string write_work(WorkMessage kind, uint64_t number = 0, std::string_view bytes = "") {
  std::string message(1 + sizeof(number), static_cast<char>(kind));
  std::memcpy(message.data() + 1, &number, sizeof(number));
  return message.append(bytes);
}

struct ReadWork {
  WorkMessage kind;
  uint64_t number = 0;
  std::string_view bytes;  // of the message
};

inline ReadWork read_work(std::string_view message) {
  ReadWork read{};
  require(message.size() > sizeof(read.number), "a message between ranks has {} bytes",
          message.size());
  read.kind = static_cast<WorkMessage>(message[0]);
  std::memcpy(&read.number, message.data() + 1, sizeof(read.number));
  read.bytes = message.substr(1 + sizeof(read.number));
  return read;
}

/// How long the progress thread sleeps when no message has arrived. A rank has its next piece
/// before it has done one, so it does not wait for this.
constexpr std::chrono::milliseconds kWorkPollInterval{1};
/// How long rank 0 tries to send WorkMessage::stop.
constexpr std::chrono::milliseconds kStopTimeout{200};
/// How long ranks wait for their last messages: MPI complains of one that is never received.
constexpr std::chrono::seconds kLeaveTimeout{5};

/// Waits until all messages have been sent and all pings are answered, but not for longer.
inline void flush(Messenger& messenger, std::chrono::milliseconds timeout = kLeaveTimeout) {
  const auto begin = std::chrono::steady_clock::now();
  do {
    messenger.answer();
    if (messenger.flushed()) return;
    std::this_thread::sleep_for(kWorkPollInterval);
  } while (std::chrono::steady_clock::now() - begin < timeout);
}

}  // namespace heed::distribute

#include "heed/distribute/mailbox.h"

#include <utility>

#include "heed/base/error.h"
#include "heed/distribute/tags.h"

namespace heed::distribute {
namespace {

constexpr size_t kMostBytes = size_t{1} << 30;

}  // namespace

void Mailbox::post(int to, std::string bytes) {
  require(bytes.size() <= kMostBytes, "a message between ranks has {} bytes, expected at most {}",
          bytes.size(), kMostBytes);
  Outgoing& letter = outgoing_.emplace_back();
  letter.bytes = std::move(bytes);
  letter.head = {transport_.rank(), static_cast<uint32_t>(letter.bytes.size())};
  letter.requests.push_back(
      transport_.send(to, kLetterHeadTag, std::as_bytes(std::span(&letter.head, 1))));
  if (!letter.bytes.empty())
    letter.requests.push_back(
        transport_.send(to, kLetterBytesTag, std::as_bytes(std::span(letter.bytes))));
}

std::optional<Mailbox::Message> Mailbox::take() {
  deliver();
  if (!listening_ && !receiving_)
    listening_ = transport_.receive(Transport::kAnyRank, kLetterHeadTag,
                                    std::as_writable_bytes(std::span(&head_, 1)));
  if (listening_) {
    if (!transport_.done(listening_)) return std::nullopt;
    listening_ = nullptr;
    require(head_.bytes <= kMostBytes, "a message of rank {} announces {} bytes", head_.from,
            head_.bytes);
    incoming_ = {head_.from, std::string(head_.bytes, '\0')};
    if (head_.bytes == 0) return std::exchange(incoming_, {});
    receiving_ = transport_.receive(incoming_.from, kLetterBytesTag,
                                    std::as_writable_bytes(std::span(incoming_.bytes)));
  }
  if (!transport_.done(receiving_)) return std::nullopt;
  receiving_ = nullptr;
  return std::exchange(incoming_, {});
}

bool Mailbox::deliver() {
  for (Outgoing& letter : outgoing_)
    std::erase_if(letter.requests,
                  [this](Transport::Request& request) { return transport_.done(request); });
  std::erase_if(outgoing_, [](const Outgoing& letter) { return letter.requests.empty(); });
  return outgoing_.empty();
}

void Mailbox::close() {
  if (listening_) transport_.cancel(listening_);
  if (receiving_) transport_.cancel(receiving_);
  listening_ = receiving_ = nullptr;
}

}  // namespace heed::distribute

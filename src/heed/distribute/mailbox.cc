#include "heed/distribute/mailbox.h"

#include <utility>

#include "heed/base/error.h"

namespace heed::distribute {
namespace {

constexpr size_t kMaxMailBytes = size_t{1} << 30;

}  // namespace

void Mailbox::send(int to, std::string bytes) {
  require(bytes.size() <= kMaxMailBytes,
          "a message between ranks has {} bytes, expected at most {}", bytes.size(), kMaxMailBytes);
  Outgoing& message = outgoing_.emplace_back();
  message.bytes = std::move(bytes);
  message.header = {transport_.rank(), static_cast<uint32_t>(message.bytes.size())};
  message.requests.push_back(
      transport_.send(to, kMailHeaderTag, std::as_bytes(std::span(&message.header, 1))));
  if (!message.bytes.empty())
    message.requests.push_back(
        transport_.send(to, kMailPayloadTag, std::as_bytes(std::span(message.bytes))));
}

std::optional<Mailbox::Message> Mailbox::try_receive() {
  progress();
  if (!header_request_ && !payload_request_)
    header_request_ = transport_.receive(Transport::kAnyRank, kMailHeaderTag,
                                         std::as_writable_bytes(std::span(&header_, 1)));
  if (header_request_) {
    if (!transport_.done(header_request_)) return std::nullopt;
    header_request_ = nullptr;
    require(header_.bytes <= kMaxMailBytes, "a message of rank {} announces {} bytes", header_.from,
            header_.bytes);
    incoming_ = {header_.from, std::string(header_.bytes, '\0')};
    if (header_.bytes == 0) return std::exchange(incoming_, {});
    payload_request_ = transport_.receive(incoming_.from, kMailPayloadTag,
                                          std::as_writable_bytes(std::span(incoming_.bytes)));
  }
  if (!transport_.done(payload_request_)) return std::nullopt;
  payload_request_ = nullptr;
  return std::exchange(incoming_, {});
}

bool Mailbox::progress() {
  for (Outgoing& message : outgoing_)
    std::erase_if(message.requests,
                  [this](Transport::Request& request) { return transport_.done(request); });
  std::erase_if(outgoing_, [](const Outgoing& message) { return message.requests.empty(); });
  return outgoing_.empty();
}

void Mailbox::close() {
  if (header_request_) transport_.cancel(header_request_);
  if (payload_request_) transport_.cancel(payload_request_);
  header_request_ = payload_request_ = nullptr;
}

}  // namespace heed::distribute

#pragma once

namespace heed::distribute {

/// Tags of the messages between ranks: statuses, mail (headers, payloads) and operations.
constexpr int kStatusTag = 1, kMailHeaderTag = 2, kMailPayloadTag = 3, kOperationTag = 4;
/// An operation that runs alone has the first tag of operations; those that are under way at once
/// have the others.
constexpr int kOperationTags = 4;

}  // namespace heed::distribute

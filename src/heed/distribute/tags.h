#pragma once

namespace heed::distribute {

/// Tags of the messages between ranks: of questions and answers, of letters (their heads, their
/// bytes), and of operations.
constexpr int kStatusTag = 1, kLetterHeadTag = 2, kLetterBytesTag = 3, kOperationTag = 4;
/// The first tag of operations is that of one that runs alone; those that are under way at once
/// have the others.
constexpr int kOperationTags = 4;

}  // namespace heed::distribute

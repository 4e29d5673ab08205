#pragma once

#include <cstdint>
#include <string>

namespace heed::io {

/// The instructions of pickles that heed reads, or that it names when it refuses them.
namespace pickle_instructions {

inline constexpr uint8_t kMark = '(', kStop = '.', kPop = '0', kPopMark = '1';
// Numbers.
inline constexpr uint8_t kNone = 'N', kTrue = 0x88, kFalse = 0x89, kInt1 = 'K', kInt2 = 'M',
                         kInt4 = 'J', kLong1 = 0x8a, kLong4 = 0x8b, kIntLine = 'I', kLongLine = 'L',
                         kFloat = 'G';
// Texts and bytes after their lengths in 1, 4 or 8 bytes; strings are those of Python 2.
inline constexpr uint8_t kText1 = 0x8c, kText4 = 'X', kText8 = 0x8d, kString1 = 'U', kString4 = 'T',
                         kBytes1 = 'C', kBytes4 = 'B', kBytes8 = 0x8e;
// Containers.
inline constexpr uint8_t kEmptyTuple = ')', kTuple1 = 0x85, kTuple2 = 0x86, kTuple3 = 0x87,
                         kTuple = 't', kEmptyList = ']', kAppend = 'a', kAppends = 'e',
                         kEmptyDict = '}', kSetItem = 's', kSetItems = 'u';
// The memo, and marks of the format.
inline constexpr uint8_t kPut1 = 'q', kPut4 = 'r', kMemoize = 0x94, kGet1 = 'h', kGet4 = 'j',
                         kProtocol = 0x80, kFrame = 0x95;
// Names of Python, and what is done with them.
inline constexpr uint8_t kGlobal = 'c', kStackGlobal = 0x93, kInstance = 'i', kReduce = 'R',
                         kBuild = 'b', kPersistentId = 'Q', kExtension1 = 0x82, kExtension2 = 0x83,
                         kExtension4 = 0x84;

}  // namespace pickle_instructions

/// The name that Python's pickletools has for an instruction which heed refuses, or its number.
std::string name_of_instruction(uint8_t instruction);

}  // namespace heed::io

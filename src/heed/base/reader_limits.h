#pragma once

#include <cstddef>
#include <cstdint>

/// The limits of files that heed reads. An untrusted file must not crash heed, hang it or exhaust
/// its memory: reading takes memory and time in proportion to the size of the file, and what a file
/// describes (a pattern, a replacement, a template) is limited here. A file that exceeds a limit is
/// refused with an Error. Each limit is far above what published files need.
namespace heed::limits {

// JSON: config.json, tokenizer.json, headers of safetensors files. Parsers and destructors descend
// one level per bracket.
inline constexpr int kMaxJsonDepth = 64;

// TOML: the configuration of a training run. Each part of a dotted key is a table in a table.
inline constexpr int kMaxTomlKeyParts = 32;

// Regular expressions of tokenizer files.
/// Total bytes of a tokenizer's regular expressions.
inline constexpr size_t kMaxPatternBytes = size_t{16} << 10;
/// Nesting of groups and classes.
inline constexpr int kMaxPatternDepth = 100;
/// Quantifiers after one atom: a{2}{3}.
inline constexpr int kMaxQuantifiers = 10;
/// The greatest number in {min,max}.
inline constexpr uint32_t kMaxRepetitions = 1000;
/// Code points that one branch of (?<=...) looks back.
inline constexpr uint32_t kMaxLookBehind = 1000;
/// Instructions of a compiled pattern; [a-z]{2,9} counts as 9 of them.
inline constexpr size_t kMaxProgramSize = 20000;
/// Choices of a compiled pattern whose outcomes are memoised. Each takes one bit (two in a
/// look-around) for each byte of the text.
inline constexpr size_t kMaxProgramChoices = 512;
/// A search in a text of n bytes may take kMaxMatchStepsPerByte * n + kMaxMatchSteps steps.
inline constexpr size_t kMaxMatchStepsPerByte = 1000, kMaxMatchSteps = 1000000;

// What a tokenizer does to a text.
/// Total number of normalizers, pre-tokenizers, post-processors and decoders.
inline constexpr size_t kMaxTokenizerParts = 256;
/// Bytes that a text of n bytes may become: factor * n + base.
inline constexpr size_t kMaxTextGrowth = 8, kMaxTextGrowthBase = size_t{1} << 20;
/// How often a post-processor may repeat the text, and how many tokens it may add.
inline constexpr size_t kMaxTextCopies = 16, kMaxAddedIds = 4096;
/// Ids of tokens are below this.
inline constexpr int32_t kMaxTokenIds = 1 << 24;

// SentencePiece models.
/// The longest piece in bytes: the library's search takes time proportional to the length of the
/// text times the length of the longest piece.
inline constexpr size_t kMaxLibraryPieceBytes = 1024;
/// Bytes of a key of a normalisation table, and of what replaces it.
inline constexpr size_t kMaxCharsmapKey = 256, kMaxCharsmapReplacement = 64;
/// Bytes of a replacement for each byte of its key; U+FDFA needs 11.
inline constexpr size_t kMaxCharsmapGrowth = 16;

// Chat templates. What rendering one may use is in jinja/limits.h.
inline constexpr size_t kMaxTemplateBytes = size_t{1} << 20;
/// Nesting of expressions, about three for each bracket, and of tags.
inline constexpr int kMaxTemplateNesting = 300;
inline constexpr int kMaxTemplateTags = 60;

// Weights.
inline constexpr size_t kMaxSafetensorsHeader = size_t{100} << 20;
/// Arrays of arrays in the metadata of a GGUF file.
inline constexpr int kMaxGgufArrayDepth = 8;
/// Bytes that the objects of a pickle may take, and copies of elements that a tensor has several
/// times, beyond the size of the file.
inline constexpr size_t kMaxPickleMemory = size_t{16} << 20;
inline constexpr int64_t kMaxWordVectorDimension = 65536;

}  // namespace heed::limits

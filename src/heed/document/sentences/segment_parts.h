#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "heed/document/document.h"
#include "heed/document/sentences/sentence_splitter.h"

namespace heed::document {

/// The sentences of a segment, those cut at clauses for which `fits` says no. None ends inside of
/// what the segment keeps, so one that does not fit may remain there.
std::vector<ByteRange> parts_of(const Segment& segment, const SentenceSplitter& splitter,
                                const std::function<bool(std::string_view part)>& fits);

/// The translation of a text from those of its parts, whose alignments are bytes of the part. What
/// stands between two parts stands between their translations, with two exceptions: nothing does
/// beside a character of Chinese or Japanese, and else at least a space does.
TranslatedSegment join_parts(std::string_view text, std::span<const ByteRange> parts,
                             std::span<const TranslatedSegment> translated);

/// The words of a text, which white space separates.
std::vector<ByteRange> words_between_spaces(std::string_view text);

}  // namespace heed::document

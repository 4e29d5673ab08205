#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "heed/document/sentences/sentence_splitter.h"

namespace heed::document {

/// Cuts a sentence of `text` until `fits` says yes to each part: near its middle, behind a
/// semicolon, a colon or a dash, else behind a comma, else between words, else between characters.
/// What it does not say yes to and has one character stays. Between the parts there is white space
/// alone, or nothing.
std::vector<ByteRange> cut_at_clauses(std::string_view text, ByteRange sentence,
                                      const std::function<bool(std::string_view part)>& fits);

}  // namespace heed::document

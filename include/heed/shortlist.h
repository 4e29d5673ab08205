#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>

#include "heed/executor.h"
#include "heed/export.h"
#include "heed/hub.h"

namespace heed {

/// Options of make_shortlist().
struct ShortlistOptions {
  /// Parallel text: line i of `target` is the translation of line i of `source`.
  std::filesystem::path source = {}, target = {};
  /// Links of its words, line by line, as "0-0 1-2" (`heed translate --alignments`, fast_align).
  /// Empty: Model 1 finds them.
  std::filesystem::path alignments = {};
  int64_t best = 50;       // target tokens of each source token, at most: the most probable
  int64_t frequent = 100;  // tokens that every translation may have: the most frequent
  /// The threads that compute; without it, Executor::shared().
  std::shared_ptr<Executor> executor = {};
  /// How a model that is named OWNER/NAME is found and downloaded.
  HubOptions hub = {};
};

/// What a shortlist is like, by up to 1000 pairs of the text that it was made from.
struct ShortlistResult {
  int64_t pairs = 0;       // of sentences that were read
  int64_t entries = 0;     // lines of the file
  double coverage = 0;     // the share of target tokens that are in the shortlist of their source
  double mean_tokens = 0;  // in the shortlist of a source
  int64_t vocab_size = 0;  // tokens without a shortlist
};

/// Makes a lexical shortlist (LoadOptions::shortlist) for the translator `model`, a model directory
/// or OWNER/NAME of the hub, of which only the vocabulary is read, and writes it to `file` as lines
/// "target source probability": Marian's lex.s2t. Probabilities are those of IBM Model 1 (Brown et
/// al. 1993) between the tokens of parallel text, or relative frequencies of alignments; lines with
/// the source NULL have the relative frequencies of the most frequent tokens. Throws Error on
/// options out of range, on text that cannot be read, and when the model does not translate.
HEED_EXPORT ShortlistResult make_shortlist(const std::filesystem::path& model,
                                           const std::filesystem::path& file,
                                           const ShortlistOptions& options);

}  // namespace heed

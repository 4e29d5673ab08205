#include "heed/data/parallel_text.h"

#include <algorithm>
#include <string_view>

#include "heed/base/error.h"

namespace heed::data {
namespace {

std::vector<SentencePair> read_all(const Corpus& corpus) {
  PairReader reader(corpus);
  std::vector<SentencePair> pairs;
  while (auto pair = reader.next()) pairs.push_back(std::move(*pair));
  return pairs;
}

}  // namespace

PairReader::PairReader(const Corpus& corpus)
    : corpus_(corpus), source_(corpus.tsv.empty() ? corpus.source : corpus.tsv) {
  if (corpus.tsv.empty()) target_.emplace(corpus.target);
  if (!corpus.alignments.empty()) alignments_.emplace(corpus.alignments);
}

std::optional<SentencePair> PairReader::next() {
  std::optional<SentencePair> pair = target_ ? next_lines() : next_columns();
  if (alignments_) read_links(pair);
  return pair;
}

std::optional<SentencePair> PairReader::next_lines() {
  const auto source = source_.next();
  const auto target = target_->next();
  if (source.has_value() != target.has_value()) fail_length();
  if (!source) return std::nullopt;
  return SentencePair{std::string(*source), std::string(*target)};
}

std::optional<SentencePair> PairReader::next_columns() {
  const auto line = source_.next();
  if (!line) return std::nullopt;
  const auto tabs = std::count(line->begin(), line->end(), '\t');
  require(tabs == 1, "{} line {} has {} columns, expected 2: source, tab, target", corpus_.tsv,
          source_.number(), tabs + 1);
  const size_t tab = line->find('\t');
  return SentencePair{std::string(line->substr(0, tab)), std::string(line->substr(tab + 1))};
}

/// Gives a pair its links. After the last pair there must be no more lines.
void PairReader::read_links(std::optional<SentencePair>& pair) {
  const auto line = alignments_->next();
  if (line.has_value() != pair.has_value()) {
    while (alignments_->next()) {
    }
    int64_t pairs = number();
    while (target_ ? next_lines() : next_columns()) pairs = number();
    fail("{} has {} lines, and the text has {} pairs", corpus_.alignments, alignments_->number(),
         pairs);
  }
  if (!line) return;
  try {
    pair->links = parse_pharaoh(*line);
  } catch (const Error& error) {
    fail("{} line {}: {}", corpus_.alignments, alignments_->number(), error.what());
  }
}

void PairReader::fail_length() {
  while (source_.next()) {
  }
  while (target_->next()) {
  }
  fail(
      "{} has {} lines, {} has {}: each line must be the translation of the same line of the "
      "other file",
      corpus_.source, source_.number(), corpus_.target, target_->number());
}

std::vector<SentencePair> read_parallel(const std::filesystem::path& source_path,
                                        const std::filesystem::path& target_path) {
  return read_all({.source = source_path.string(), .target = target_path.string()});
}

std::vector<SentencePair> read_tsv(const std::filesystem::path& path) {
  return read_all({.tsv = path.string()});
}

}  // namespace heed::data

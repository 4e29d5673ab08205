#include "heed/shortlist.h"

#include <algorithm>
#include <array>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/output_file.h"
#include "heed/base/parallel.h"
#include "heed/base/text_lines.h"
#include "heed/data/lexical_table.h"
#include "heed/data/parallel_text.h"
#include "heed/engine/system_errors.h"
#include "heed/generate/shortlist.h"
#include "heed/text/translation_tokenizer.h"

namespace heed {
namespace {

namespace fs = std::filesystem;

/// Pairs by whose tokens a shortlist is measured.
constexpr size_t kMeasuredPairs = 1000;
constexpr std::string_view kNull = "NULL";

void check(const ShortlistOptions& options) {
  constexpr auto kMost = static_cast<int64_t>(generate::Shortlist::kMostOfToken);
  static_assert(generate::Shortlist::kMostFrequent == generate::Shortlist::kMostOfToken);
  for (const auto& [name, value] :
       {std::pair("best", options.best), std::pair("frequent", options.frequent)})
    require_input(value >= 1 && value <= kMost, "{} is {}, expected 1 to {}", name, value, kMost);
}

text::TranslationTokenizer tokenizer_of(const fs::path& model) {
  require(text::TranslationTokenizer::exists(model) ||
              text::TranslationTokenizer::is_multilingual(model),
          "{} is no translator with a vocabulary for source and target", model.string());
  return text::TranslationTokenizer::load(model);
}

std::vector<data::TokenPair> tokens_of(const std::vector<data::SentencePair>& pairs,
                                       const text::TranslationTokenizer& tokenizer) {
  std::vector<data::TokenPair> tokens(pairs.size());
  parallel_for(std::ssize(pairs), 64, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      tokens[i] = {tokenizer.encode_source(pairs[i].source),
                   tokenizer.encode_target(pairs[i].target)};
      for (std::vector<int32_t>* const side : {&tokens[i].source, &tokens[i].target})
        std::erase_if(*side, [&](int32_t token) { return tokenizer.is_special(token); });
    }
  });
  return tokens;
}

/// The links between the tokens of pairs whose words are aligned.
std::vector<std::vector<data::Link>> links_of(const fs::path& file,
                                              std::span<const data::TokenPair> pairs,
                                              const text::TranslationTokenizer& tokenizer) {
  std::vector<std::vector<data::Link>> links;
  for_each_line(file, [&](std::string_view line, size_t number) {
    if (number > pairs.size()) fail("{} has more lines than the text", file.string());
    const data::TokenPair& pair = pairs[number - 1];
    name_input("line", static_cast<int64_t>(number), [&] {
      links.push_back(data::token_links(
          data::parse_pharaoh(line),
          data::word_numbers(pair.source,
                             [&](int32_t token) { return tokenizer.source_piece(token); }),
          data::word_numbers(pair.target, [&](int32_t token) { return tokenizer.piece(token); })));
    });
  });
  return links;
}

/// Whether a piece can be a column of the file.
bool is_column(std::string_view piece) {
  return !piece.empty() && piece.find_first_of(" \t\r\n") == piece.npos && piece != kNull;
}

void write(const fs::path& file, const std::vector<data::LexicalEntry>& entries,
           const text::TranslationTokenizer& tokenizer) {
  AtomicFile out(file);
  for (const auto& [target, source, probability] : entries) {
    const bool frequent = source == data::kNoSource;
    const std::string_view from = frequent ? kNull : tokenizer.source_piece(source);
    if (is_column(tokenizer.piece(target)) && (frequent || is_column(from)))
      out.write(fmt::format("{} {} {:.4g}\n", tokenizer.piece(target), from, probability));
  }
  out.commit();
}

void measure(const generate::Shortlist& shortlist, std::span<const data::TokenPair> pairs,
             ShortlistResult& result) {
  const size_t stride = (pairs.size() + kMeasuredPairs - 1) / kMeasuredPairs;
  int64_t measured = 0, tokens = 0, covered = 0, listed = 0;
  for (size_t i = 0; i < pairs.size(); i += stride) {
    const generate::TokenList list = shortlist.tokens_for(pairs[i].source, {});
    ++measured;
    listed += std::ssize(*list);
    tokens += std::ssize(pairs[i].target);
    covered += std::ranges::count_if(
        pairs[i].target, [&](int32_t token) { return std::ranges::binary_search(*list, token); });
  }
  const auto share = [](int64_t part, int64_t of) {
    return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(of, 1));
  };
  result.mean_tokens = share(listed, measured);
  result.coverage = share(covered, tokens);
}

ShortlistResult make(const fs::path& model, const fs::path& file, const ShortlistOptions& options) {
  check(options);
  const auto tokenizer = tokenizer_of(model);
  require_output_file("the shortlist", file);
  const auto pairs = tokens_of(data::read_parallel(options.source, options.target), tokenizer);
  const data::LexicalTableOptions table{.best = options.best, .frequent = options.frequent};
  const auto entries =
      options.alignments.empty()
          ? data::lexical_table(pairs, table)
          : data::lexical_table(pairs, links_of(options.alignments, pairs, tokenizer), table);
  require(!entries.empty(), "{} has no tokens to make a shortlist of", options.target.string());
  write(file, entries, tokenizer);
  ShortlistResult result{.pairs = std::ssize(pairs),
                         .entries = std::ssize(entries),
                         .vocab_size = tokenizer.vocab_size()};
  measure(generate::Shortlist::read(file, tokenizer, tokenizer.vocab_size()), pairs, result);
  return result;
}

}  // namespace

ShortlistResult make_shortlist(const fs::path& model, const fs::path& file,
                               const ShortlistOptions& options) {
  return engine::with_system_errors([&] {
    const auto executor = options.executor ? options.executor : Executor::shared();
    const ExecutorScope scope(*executor);
    return make(resolve_model(model, options.hub), file, options);
  });
}

}  // namespace heed

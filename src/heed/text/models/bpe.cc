#include <array>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/text/models/merge_table.h"
#include "heed/text/models/tokenizer_model.h"
#include "heed/text/models/word_merger.h"
#include "heed/text/step_check.h"
#include "heed/text/utf8.h"

namespace heed::text {
namespace {

class BpeModel : public TokenizerModel {
 public:
  BpeModel(Vocabulary vocabulary, const std::vector<BpeMerge>& merges, const BpeOptions& options)
      : TokenizerModel(std::move(vocabulary)), options_(options), merges_(merges) {
    if (options_.unknown) unknown_ = this->vocabulary().find(*options_.unknown);
    for (uint32_t value = 0; value < character_ids_.size(); ++value) {
      std::string character;
      append_utf8(character, value);
      character_ids_[value] = this->vocabulary().find(character).value_or(-1);
    }
  }

  void tokenize(std::string_view word, std::vector<int32_t>& ids) const override {
    if (word.empty()) return;
    if (options_.ignore_merges) {
      if (const auto id = vocabulary().find(word)) {
        ids.push_back(*id);
        return;
      }
    }
    WordMerger merger(merges_);
    add_characters(word, merger);
    merger.merge(ids);
  }

  std::string_view text_of(std::string_view piece, bool first) const override {
    piece = without_prefix(piece, options_.continuing_prefix, first);
    if (piece.ends_with(options_.end_suffix)) piece.remove_suffix(options_.end_suffix.size());
    return piece;
  }

 private:
  /// An unknown piece is added only when no further unknown character can be fused with it, which
  /// is after the byte pieces that follow it. `tokenizers` has the same order.
  void add_characters(std::string_view word, WordMerger& merger) const {
    bool pending_unknown = false;
    const auto add_pending = [&] {
      if (pending_unknown) merger.add(*unknown_);
      pending_unknown = false;
    };
    StepCheck check;
    for (size_t begin = 0; begin < word.size(); check.step()) {
      const CodePoint point = code_point_at(word, begin);
      const std::string_view bytes = word.substr(begin, point.length);
      const bool first = begin == 0, last = begin + point.length == word.size();
      begin += point.length;
      std::string decorated;
      if (const auto id = character_id(point.value, bytes, first, last, decorated)) {
        add_pending();
        merger.add(*id);
        continue;
      }
      if (options_.byte_fallback) {
        if (const auto pieces = byte_pieces(vocabulary(), decorated.empty() ? bytes : decorated)) {
          for (const int32_t id : *pieces) merger.add(id);
          continue;
        }
      }
      if (!options_.unknown) continue;  // left out
      if (!unknown_)
        fail_input("neither the character {} nor the unknown piece {} is in the vocabulary",
                   quoted(bytes), quoted(*options_.unknown));
      if (!options_.fuse_unknown) add_pending();
      pending_unknown = true;
    }
    add_pending();
  }

  std::optional<int32_t> character_id(char32_t value, std::string_view bytes, bool first, bool last,
                                      std::string& decorated) const {
    const bool prefixed = !first && !options_.continuing_prefix.empty();
    const bool suffixed = last && !options_.end_suffix.empty();
    if (prefixed || suffixed) {
      if (prefixed) decorated = options_.continuing_prefix;
      decorated += bytes;
      if (suffixed) decorated += options_.end_suffix;
      return vocabulary().find(decorated);
    }
    if (value >= character_ids_.size()) return vocabulary().find(bytes);
    if (character_ids_[value] < 0) return std::nullopt;
    return character_ids_[value];
  }

  BpeOptions options_;
  std::optional<int32_t> unknown_;
  MergeTable merges_;
  std::array<int32_t, 0x180> character_ids_;  // ids by code point; covers all byte characters
};

}  // namespace

std::vector<PiecePair> read_merges_json(const nlohmann::json& merges, const std::string& file) {
  if (!merges.is_array()) fail("{}: merges is {}, expected a list", file, excerpt(merges));
  std::vector<PiecePair> pairs;
  pairs.reserve(merges.size());
  for (const auto& merge : merges) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      pairs.emplace_back(merge[0].get_ref<const std::string&>(),
                         merge[1].get_ref<const std::string&>());
      continue;
    }
    if (!merge.is_string()) fail("{}: {} in merges, expected two pieces", file, excerpt(merge));
    const auto& line = merge.get_ref<const std::string&>();
    if (!line.starts_with("#version")) pairs.push_back(read_merge(line, file));
  }
  return pairs;
}

std::unique_ptr<TokenizerModel> make_bpe(Vocabulary vocabulary, const std::vector<BpeMerge>& merges,
                                         const BpeOptions& options) {
  return std::make_unique<BpeModel>(std::move(vocabulary), merges, options);
}

std::unique_ptr<TokenizerModel> read_bpe(const nlohmann::json& json, const std::string& file) {
  BpeOptions options;
  const auto unknown = get_or<std::string>(json, "unk_token", "", file);
  if (json.contains("unk_token") && json["unk_token"].is_string()) options.unknown = unknown;
  options.continuing_prefix = get_or<std::string>(json, "continuing_subword_prefix", "", file);
  options.end_suffix = get_or<std::string>(json, "end_of_word_suffix", "", file);
  options.fuse_unknown = get_or<bool>(json, "fuse_unk", false, file);
  options.byte_fallback = get_or<bool>(json, "byte_fallback", false, file);
  options.ignore_merges = get_or<bool>(json, "ignore_merges", false, file);
  require(json.contains("merges"), "{}: the model's merges are missing", file);
  Vocabulary vocabulary = read_vocabulary(json, file);
  const auto merges =
      merges_of_pairs(vocabulary, read_merges_json(json["merges"], file), options, file);
  return make_bpe(std::move(vocabulary), merges, options);
}

}  // namespace heed::text

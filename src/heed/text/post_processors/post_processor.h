#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/text/regex/regex.h"

namespace heed::text {

/// The ids of a text or of a pair of texts, and the segment that each belongs to.
struct TypedIds {
  std::vector<int32_t> ids, types;  // [T]
};

/// A token of a result: one of the first or the second text, or a special one.
struct ProcessedToken {
  int32_t sequence = 0;  // 0 or 1; -1: special
  size_t index = 0;      // in its text
  int32_t id = 0;        // of a special one
  int32_t type = 0;      // the segment
};

/// How special tokens stand around two texts A and B: [CLS] A [SEP] B [SEP] with the segments 0 and
/// 1 (BERT), <s> A </s> </s> B </s> in one segment (RoBERTa), or around each text as around one
/// alone (Llama).
enum class PairLayout { bert, roberta, repeated };

/// Adds special tokens around the ids of a text by templates, each around the result of the one
/// before.
class PostProcessor {
 public:
  PostProcessor() = default;

  /// What "post_processor" of a tokenizer.json describes; `file` is its name in messages. Throws
  /// Error on an unknown type, and on missing or wrong members.
  static PostProcessor read(const nlohmann::json& json, const std::string& file);
  static PostProcessor around(std::vector<int32_t> before, std::vector<int32_t> after,
                              PairLayout pairs);

  std::vector<int32_t> apply(std::vector<int32_t> ids, bool special) const;
  /// Takes the spaces at both ends out of the spans of tokens in `text`, if the file says so;
  /// `pieces` are the pieces of the tokens.
  void trim(std::string_view text, const std::vector<std::string_view>& pieces,
            std::vector<TextSpan>& spans) const;
  /// Two texts with special tokens. Throws Error when there is no template for pairs, and when
  /// there are several.
  TypedIds apply_to_pair(std::span<const int32_t> first, std::span<const int32_t> second) const;

  /// The tokens of a text of `first` tokens, or of two texts. Throws Error as apply_to_pair() does.
  std::vector<ProcessedToken> place(size_t first, std::optional<size_t> second, bool special) const;
  /// How many tokens of a text, or of two, are kept so that there are at most `max_tokens` (0: no
  /// limit). Of two the longer one is shortened, then both are.
  std::pair<size_t, std::optional<size_t>> truncated(size_t first, std::optional<size_t> second,
                                                     size_t max_tokens, bool special) const;

 private:
  /// Part of a template: a text, or special tokens.
  struct Part {
    enum class Kind { special, first, second };
    Kind kind = Kind::special;
    std::vector<int32_t> special = {};
    int32_t type = 0;
  };
  using Parts = std::vector<Part>;
  struct Template {
    Parts single;
    Parts pair;  // empty: none
  };

  static Template template_around(const std::vector<int32_t>& before,
                                  const std::vector<int32_t>& after, PairLayout pairs);
  static Parts read_parts(const nlohmann::json& json, const char* key, const std::string& file);
  void check_growth(const std::string& file) const;
  void append(const nlohmann::json& json, const std::string& file);
  const Parts& pair_parts() const;

  std::vector<Template> templates_;  // applied in this order
  /// Byte-level tokenizers have spaces in their pieces. With a space that was put before the text,
  /// the first piece has one that is not in the text.
  bool trims_spaces_ = false, prefix_space_ = false;
};

}  // namespace heed::text

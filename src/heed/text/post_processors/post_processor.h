#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/text/regex/regex.h"

namespace heed::text {

/// The ids of a text or of a pair of texts, and the segment that each belongs to.
struct TypedIds {
  std::vector<int32_t> ids, types;  // [T]
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
  /// Takes the spaces at both ends out of the spans of tokens, if the file says so; piece_of(i) is
  /// the piece of token i.
  void trim(std::vector<TextSpan>& spans,
            const std::function<std::string_view(size_t)>& piece_of) const;
  /// Two texts with special tokens. Throws Error when there is no template for pairs, and when
  /// there are several.
  TypedIds apply_to_pair(std::span<const int32_t> first, std::span<const int32_t> second) const;

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

  std::vector<Template> templates_;  // applied in this order
  /// Byte-level tokenizers have spaces in their pieces. With a space that was put before the text,
  /// the first piece has one that is not in the text.
  bool trims_spaces_ = false, prefix_space_ = false;
};

}  // namespace heed::text

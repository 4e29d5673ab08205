#include "heed/text/post_processors/post_processor.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/reader_limits.h"
#include "heed/text/unicode/properties.h"
#include "heed/text/utf8.h"
#include "heed/text/vocabulary.h"

namespace heed::text {
namespace {

int32_t read_id(const nlohmann::json& json, const char* key, const std::string& file) {
  return static_cast<int32_t>(integer_of(json, key, file, 0, limits::kMaxTokenIds - 1));
}

/// ["[SEP]", 102]
int32_t read_pair(const nlohmann::json& json, const char* key, const std::string& file) {
  const auto found = json.find(key);
  require(found != json.end() && found->is_array() && found->size() == 2,
          "{}: {} of the post-processor is missing or not a piece and its id", file, key);
  return read_id((*found)[1], key, file);
}

void check_added(size_t count, const std::string& file) {
  require(count <= limits::kMaxAddedIds, "{}: the post-processor adds more than {} special tokens",
          file, limits::kMaxAddedIds);
}

std::vector<int32_t> read_special(const nlohmann::json& json, const std::string& name,
                                  const std::string& file) {
  const auto all = json.find("special_tokens");
  require(all != json.end() && all->is_object() && all->contains(name),
          "{}: the template's {} is not among its special_tokens", file, quoted(name));
  const nlohmann::json& token = all->at(name);
  require(token.is_object() && token.contains("ids") && token["ids"].is_array(),
          "{}: the special token {} has no list of ids", file, quoted(name));
  std::vector<int32_t> ids;
  const nlohmann::json& list = token.at("ids");
  for (const auto& id : list) ids.push_back(read_id(id, "ids", file));
  return ids;
}

/// How many white spaces, as GPT-2's character for one or as they are, a piece begins with.
size_t leading_spaces(std::string_view piece) {
  static constexpr std::string_view kSpace = "\u0120";
  size_t count = 0;
  while (!piece.empty()) {
    const CodePoint point = code_point_at(piece, 0);
    if (!piece.starts_with(kSpace) && !is_white_space(point.value)) break;
    piece.remove_prefix(point.length);
    ++count;
  }
  return count;
}

size_t trailing_spaces(std::string_view piece) {
  size_t count = 0;
  while (!piece.empty()) {
    const size_t begin = code_point_begin(piece, piece.size() - 1);
    if (leading_spaces(piece.substr(begin)) == 0) break;
    piece = piece.substr(0, begin);
    ++count;
  }
  return count;
}

}  // namespace

PostProcessor::Template PostProcessor::template_around(const std::vector<int32_t>& before,
                                                       const std::vector<int32_t>& after,
                                                       PairLayout pairs) {
  const Part first{Part::Kind::first}, second{Part::Kind::second};
  Template result{{{.special = before}, first, {.special = after}},
                  {{.special = before}, first, {.special = after}}};
  if (pairs == PairLayout::roberta) result.pair.push_back({.special = after});
  if (pairs == PairLayout::repeated) result.pair.push_back({.special = before, .type = 1});
  result.pair.push_back(second);
  result.pair.push_back({.special = after});
  if (pairs != PairLayout::roberta) result.pair.back().type = result.pair.end()[-2].type = 1;
  return result;
}

PostProcessor PostProcessor::around(std::vector<int32_t> before, std::vector<int32_t> after,
                                    PairLayout pairs) {
  PostProcessor result;
  result.templates_.push_back(template_around(before, after, pairs));
  return result;
}

PostProcessor::Parts PostProcessor::read_parts(const nlohmann::json& json, const char* key,
                                               const std::string& file) {
  const bool single = std::string_view(key) == "single";
  const auto list = json.find(key);
  if (!single && (list == json.end() || list->is_null())) return {};
  require(list != json.end() && list->is_array(), "{}: the template's {} is missing or not a list",
          file, key);
  Parts result;
  size_t added = 0;
  for (const auto& part : *list) {
    if (part.is_object() && part.contains("SpecialToken")) {
      const nlohmann::json& token = part["SpecialToken"];
      const auto name = get<std::string>(token, "id", file);
      result.push_back({.special = read_special(json, name, file),
                        .type = get_or<int32_t>(token, "type_id", 0, file)});
      check_added(added += result.back().special.size(), file);
      continue;
    }
    if (!part.is_object() || !part.contains("Sequence"))
      fail("{}: {} in the template, expected a Sequence or a SpecialToken", file, excerpt(part));
    const nlohmann::json& sequence = part["Sequence"];
    const auto name = get<std::string>(sequence, "id", file);
    require(name == "A" || (!single && name == "B"), "{}: the template for {} has the sequence {}",
            file, single ? "one text" : "pairs", quoted(name));
    result.push_back({.kind = name == "A" ? Part::Kind::first : Part::Kind::second,
                      .type = get_or<int32_t>(sequence, "type_id", 0, file)});
  }
  return result;
}

void PostProcessor::append(const nlohmann::json& json, const std::string& file) {
  const auto type = get<std::string>(json, "type", file);
  if (type == "ByteLevel" || type == "RobertaProcessing") {
    trims_spaces_ = get_or(json, "trim_offsets", true, file);
    prefix_space_ = get_or(json, "add_prefix_space", true, file);
  }
  if (type == "ByteLevel") return;
  if (type == "Sequence") {
    const auto parts = json.find("processors");
    require(parts != json.end() && parts->is_array(), "{}: processors is missing or not a list",
            file);
    for (const auto& part : *parts) append(part, file);
  } else if (type == "TemplateProcessing") {
    templates_.push_back({read_parts(json, "single", file), read_parts(json, "pair", file)});
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    templates_.push_back(
        template_around({read_pair(json, "cls", file)}, {read_pair(json, "sep", file)},
                        type == "BertProcessing" ? PairLayout::bert : PairLayout::roberta));
  } else {
    fail("{}: the post-processor {} is not known", file, excerpt(json["type"]));
  }
}

/// Each template repeats the result of the one before it, so that copies of the text multiply. Only
/// one template is ever applied to a pair.
void PostProcessor::check_growth(const std::string& file) const {
  const auto count = [](const Parts& parts, size_t& texts, size_t& special) {
    for (const Part& part : parts) {
      texts += part.kind == Part::Kind::special ? 0 : 1;
      special += part.special.size();
    }
  };
  const auto check = [&](size_t copies, size_t added) {
    require(copies <= limits::kMaxTextCopies,
            "{}: the post-processor repeats the text {} times, at most {} are allowed", file,
            copies, limits::kMaxTextCopies);
    check_added(added, file);
  };
  size_t copies = 1, added = 0;
  for (const Template& own : templates_) {
    size_t texts = 0, special = 0, pair_texts = 0, pair_special = 0;
    count(own.single, texts, special);
    count(own.pair, pair_texts, pair_special);
    copies *= texts;
    added = added * texts + special;
    check(copies, added);
    check(pair_texts, pair_special);
  }
}

PostProcessor PostProcessor::read(const nlohmann::json& json, const std::string& file) {
  PostProcessor result;
  result.append(json, file);
  result.check_growth(file);
  return result;
}

std::vector<int32_t> PostProcessor::apply(std::vector<int32_t> ids, bool special) const {
  if (templates_.empty()) return ids;
  std::vector<int32_t> result;
  for (const ProcessedToken& token : place(ids.size(), std::nullopt, special))
    result.push_back(token.sequence < 0 ? token.id : ids[token.index]);
  return result;
}

void PostProcessor::trim(std::string_view text, const std::vector<std::string_view>& pieces,
                         std::vector<TextSpan>& spans) const {
  if (!trims_spaces_) return;
  for (size_t i = 0; i < spans.size(); ++i) {
    TextSpan& span = spans[i];
    size_t leading = leading_spaces(pieces[i]);
    // A single space may be the one that was put before the text.
    if (leading == 1 && prefix_space_ && (i == 0 || span.begin == 0)) leading = 0;
    for (; leading > 0 && span.begin < span.end; --leading) {
      ++span.begin;
      while (span.begin < text.size() && is_continuation(text[span.begin])) ++span.begin;
    }
    for (size_t trailing = trailing_spaces(pieces[i]); trailing > 0 && span.begin < span.end;
         --trailing)
      span.end = code_point_begin(text, span.end - 1);
  }
}

std::vector<ProcessedToken> PostProcessor::place(size_t first, std::optional<size_t> second,
                                                 bool special) const {
  std::vector<ProcessedToken> texts[2];
  for (size_t i = 0; i < first; ++i) texts[0].push_back({.index = i});
  for (size_t i = 0; i < second.value_or(0); ++i) texts[1].push_back({.sequence = 1, .index = i});
  const auto apply_parts = [&](const Parts& parts) {
    std::vector<ProcessedToken> result;
    for (const Part& part : parts) {
      if (part.kind == Part::Kind::special) {
        for (size_t i = 0; special && i < part.special.size(); ++i)
          result.push_back({.sequence = -1, .id = part.special[i], .type = part.type});
        continue;
      }
      for (ProcessedToken token : texts[part.kind == Part::Kind::first ? 0 : 1]) {
        token.type = part.type;
        result.push_back(token);
      }
    }
    return result;
  };
  if (second) return apply_parts(pair_parts());
  for (const Template& own : templates_) texts[0] = apply_parts(own.single);
  return std::move(texts[0]);
}

const PostProcessor::Parts& PostProcessor::pair_parts() const {
  static const Parts plain{{.kind = Part::Kind::first}, {.kind = Part::Kind::second, .type = 1}};
  require(templates_.size() <= 1,
          "the tokenizer's post-processor has {} templates for pairs, at "
          "most one is supported",
          templates_.size());
  if (templates_.empty()) return plain;
  require(!templates_.front().pair.empty(),
          "the tokenizer's post-processor has no template for pairs of texts");
  return templates_.front().pair;
}

TypedIds PostProcessor::apply_to_pair(std::span<const int32_t> first,
                                      std::span<const int32_t> second) const {
  TypedIds result;
  for (const ProcessedToken& token : place(first.size(), second.size(), true)) {
    result.ids.push_back(token.sequence < 0    ? token.id
                         : token.sequence == 0 ? first[token.index]
                                               : second[token.index]);
    result.types.push_back(token.type);
  }
  return result;
}

std::pair<size_t, std::optional<size_t>> PostProcessor::truncated(size_t first,
                                                                  std::optional<size_t> second,
                                                                  size_t max_tokens,
                                                                  bool special) const {
  if (max_tokens == 0) return {first, second};
  const std::optional<size_t> none = second ? std::optional<size_t>(0) : std::nullopt;
  const size_t added = place(0, none, special).size();
  const size_t room = max_tokens - std::min(max_tokens, added);
  if (!second) return {std::min(first, room), std::nullopt};
  if (first + *second <= room) return {first, second};
  size_t& shorter = first <= *second ? first : *second;
  size_t& longer = &shorter == &first ? *second : first;
  shorter = std::min(shorter, room / 2);
  longer = std::min(longer, room - shorter);
  return {first, second};
}

}  // namespace heed::text

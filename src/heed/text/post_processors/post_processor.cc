#include "heed/text/post_processors/post_processor.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/base/reader_limits.h"
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
  for (const Template& own : templates_) {
    std::vector<int32_t> result;
    for (const Part& part : own.single) {
      if (part.kind == Part::Kind::first)
        result.insert(result.end(), ids.begin(), ids.end());
      else if (special)
        result.insert(result.end(), part.special.begin(), part.special.end());
    }
    ids = std::move(result);
  }
  return ids;
}

void PostProcessor::trim(std::vector<TextSpan>& spans,
                         const std::function<std::string_view(size_t)>& piece_of) const {
  if (!trims_spaces_) return;
  static constexpr std::string_view kSpace = "\u0120";  // GPT-2's letter for it
  for (size_t i = 0; i < spans.size(); ++i) {
    TextSpan& span = spans[i];
    std::string_view piece = piece_of(i);
    size_t leading = 0, trailing = 0;
    for (std::string_view rest = piece; rest.starts_with(kSpace); ++leading)
      rest.remove_prefix(kSpace.size());
    for (; piece.ends_with(kSpace); ++trailing) piece.remove_suffix(kSpace.size());
    if (leading > 0 && prefix_space_ && (i == 0 || span.begin == 0)) --leading;
    span.begin = std::min(span.begin + leading, span.end);
    if (span.end >= trailing) span.end = std::max(span.end - trailing, span.begin);
  }
}

TypedIds PostProcessor::apply_to_pair(std::span<const int32_t> first,
                                      std::span<const int32_t> second) const {
  require(templates_.size() <= 1,
          "the tokenizer's post-processor has {} templates for pairs, at "
          "most one is supported",
          templates_.size());
  const Parts plain{{.kind = Part::Kind::first}, {.kind = Part::Kind::second, .type = 1}};
  const Parts& parts = templates_.empty() ? plain : templates_.front().pair;
  require(!parts.empty(), "the tokenizer's post-processor has no template for pairs of texts");
  TypedIds result;
  for (const Part& part : parts) {
    const std::span<const int32_t> ids = part.kind == Part::Kind::first    ? first
                                         : part.kind == Part::Kind::second ? second
                                                                           : part.special;
    result.ids.insert(result.ids.end(), ids.begin(), ids.end());
    result.types.resize(result.ids.size(), part.type);
  }
  return result;
}

}  // namespace heed::text

#include "heed/text/post_processors/post_processor.h"

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

PostProcessor PostProcessor::around(std::vector<int32_t> before, std::vector<int32_t> after) {
  PostProcessor result;
  result.templates_.push_back({{false, std::move(before)}, {true, {}}, {false, std::move(after)}});
  return result;
}

PostProcessor::Template PostProcessor::read_template(const nlohmann::json& json,
                                                     const std::string& file) {
  const auto single = json.find("single");
  require(single != json.end() && single->is_array(),
          "{}: the template's single is missing or not a list", file);
  Template result;
  size_t added = 0;
  for (const auto& part : *single) {
    if (part.is_object() && part.contains("SpecialToken")) {
      const auto name = get<std::string>(part["SpecialToken"], "id", file);
      result.push_back({false, read_special(json, name, file)});
      check_added(added += result.back().special.size(), file);
      continue;
    }
    if (!part.is_object() || !part.contains("Sequence"))
      fail("{}: {} in the template, expected a Sequence or a SpecialToken", file, excerpt(part));
    const auto name = get<std::string>(part["Sequence"], "id", file);
    require(name == "A", "{}: the template for one text has the sequence {}", file, quoted(name));
    result.push_back({true, {}});
  }
  return result;
}

void PostProcessor::append(const nlohmann::json& json, const std::string& file,
                           std::vector<Template>& templates) {
  const auto type = get<std::string>(json, "type", file);
  if (type == "ByteLevel") return;  // it only changes offsets, which heed does not compute
  if (type == "Sequence") {
    const auto parts = json.find("processors");
    require(parts != json.end() && parts->is_array(), "{}: processors is missing or not a list",
            file);
    for (const auto& part : *parts) append(part, file, templates);
  } else if (type == "TemplateProcessing") {
    templates.push_back(read_template(json, file));
  } else if (type == "BertProcessing" || type == "RobertaProcessing") {
    templates.push_back({{false, {read_pair(json, "cls", file)}},
                         {true, {}},
                         {false, {read_pair(json, "sep", file)}}});
  } else {
    fail("{}: the post-processor {} is not known", file, excerpt(json["type"]));
  }
}

/// Each template repeats the result of the one before it, so that copies of the text multiply.
void PostProcessor::check_growth(const std::string& file) const {
  size_t copies = 1, added = 0;
  for (const Template& parts : templates_) {
    size_t texts = 0, special = 0;
    for (const Part& part : parts) {
      texts += part.text ? 1 : 0;
      special += part.special.size();
    }
    copies *= texts;
    added = added * texts + special;
    require(copies <= limits::kMaxTextCopies,
            "{}: the post-processor repeats the text {} times, at most {} are allowed", file,
            copies, limits::kMaxTextCopies);
    check_added(added, file);
  }
}

PostProcessor PostProcessor::read(const nlohmann::json& json, const std::string& file) {
  PostProcessor result;
  append(json, file, result.templates_);
  result.check_growth(file);
  return result;
}

std::vector<int32_t> PostProcessor::apply(std::vector<int32_t> ids, bool special) const {
  for (const Template& parts : templates_) {
    std::vector<int32_t> result;
    for (const Part& part : parts) {
      if (part.text)
        result.insert(result.end(), ids.begin(), ids.end());
      else if (special)
        result.insert(result.end(), part.special.begin(), part.special.end());
    }
    ids = std::move(result);
  }
  return ids;
}

}  // namespace heed::text

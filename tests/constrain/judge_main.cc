// Answers the judges of constraints (tests/judges/constrain/): reads a request a line, in JSON, and
// writes an answer a line.
//
//   constrain_judge [VOCABULARY]
//
// VOCABULARY holds a token a line, its bytes in base64, as tiktoken's files do; the line is the id.
// The id behind the last is the end of a text.
//
// Request: {"kind": "regex", "source": "...", "texts": [...], "tokens": [[...], ...]}; kinds are
// those of `compilers` below. A text may be given as {"base64": "..."}. Answer: {"compile_us": ..,
// "texts": [{"bytes": .., "accepted": ..}], "tokens": [{"accepted": .., "tokens": .., "mask_ns":
// [..]}]}, `bytes` and `tokens` being how many are allowed, times those of the processor; or
// {"error": "...", "refused_us": ..}. With the kind "json_schema" there may be "documents": {URI:
// "..."} and "formats": false, and the answer has "warnings"; a JSON text gets "valid": whether
// SchemaValidator says so. With "any_order" one that is not accepted gets "accepted_in_order":
// whether it is with the members of its objects in some order.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "heed/base/base64.h"
#include "heed/base/error.h"
#include "heed/constrain/matcher.h"
#include "heed/constrain/schema/json_document.h"
#include "heed/constrain/schema/json_schema.h"
#include "heed/constrain/schema/schema_validator.h"

namespace heed::constrain {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Of processor time, which other programs on the machine do not add to.
int64_t processor_nanoseconds() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::shared_ptr<const Constraint> compile_search(std::string_view pattern, RegexDialect dialect) {
  GrammarBuilder builder;
  const Symbol start = builder.terminal(
      compile_pattern(builder.expressions(), pattern, {.dialect = dialect, .search = true}));
  return std::make_shared<const Constraint>(std::move(builder), start);
}

SchemaOptions schema_options(const json& request) {
  SchemaOptions options;
  options.formats = request.value("formats", true);
  options.documents = request.value("documents", std::map<std::string, std::string>());
  return options;
}

std::shared_ptr<const Constraint> compile(const json& request, std::vector<std::string>& warnings) {
  using Compile = std::function<std::shared_ptr<const Constraint>(const std::string&)>;
  static const std::map<std::string, Compile> compilers = {
      {"regex", [](const std::string& text) { return compile_regex(text); }},
      {"regex_python",
       [](const std::string& text) { return compile_regex(text, RegexDialect::python); }},
      {"search", [](const std::string& text) { return compile_search(text, RegexDialect::ecma); }},
      {"search_python",
       [](const std::string& text) { return compile_search(text, RegexDialect::python); }},
      {"gbnf", [](const std::string& text) { return compile_gbnf(text); }},
      {"lark", [](const std::string& text) { return compile_lark(text); }},
  };
  const json& source = request.at("source");
  if (request.at("kind") == "json_schema")
    return compile_json_schema(source.get<std::string>(), schema_options(request), &warnings);
  return compilers.at(request.at("kind"))(source.is_string() ? source.get<std::string>()
                                                             : source.dump());
}

std::string text_of(const json& text) {
  return text.is_string() ? text.get<std::string>()
                          : decode_base64(text.at("base64").get<std::string>()).value();
}

json judge_text(Matcher matcher, const std::string& text) {
  const size_t bytes = matcher.accept_bytes(text);
  return {{"bytes", bytes}, {"accepted", bytes == text.size() && matcher.is_accepting()}};
}

/// Looks for an order of members in which a JSON value is accepted. Gives up after 15 seconds.
class MemberOrder {
 public:
  explicit MemberOrder(const std::string& text) : root_(document_.read(text)) {}

  bool is_accepted(Matcher matcher) { return accept(matcher, root_) && matcher.is_accepting(); }

 private:
  static bool accept(Matcher& matcher, const std::string& text) {
    return matcher.accept_bytes(text) == text.size();
  }

  bool accept(Matcher& matcher, JsonId id) {
    const std::string known = texts_[id];  // in the order that was accepted before
    if (!known.empty() && accept(matcher, known)) return true;
    const JsonNode& node = document_[id];
    std::string text;
    if (node.is_object()) {
      text = "{";
      if (!accept(matcher, text) || !accept_members(matcher, node.members, "", text)) return false;
    } else if (node.is_array()) {
      text = "[";
      if (!accept(matcher, text)) return false;
      for (size_t i = 0; i < node.items.size(); ++i) {
        if (i > 0 && !accept(matcher, ",")) return false;
        if (!accept(matcher, node.items[i])) return false;
        text += (i > 0 ? "," : "") + texts_[node.items[i]];
      }
      if (!accept(matcher, "]")) return false;
      text += "]";
    } else {
      text = node.is_string()    ? json(node.text).dump()
             : node.is_number()  ? node.text
             : node.is_boolean() ? (node.boolean ? "true" : "false")
                                 : "null";
      if (!accept(matcher, text)) return false;
    }
    texts_[id] = text;
    return true;
  }

  using Members = std::vector<std::pair<std::string, JsonId>>;

  /// Members that may come next, those first that leave most of the others possible.
  std::vector<size_t> candidates(const Matcher& matcher, const Members& members,
                                 const std::string& comma) {
    const auto begins = [&](Matcher after, size_t i, const std::string& separator) {
      return accept(after, separator + json(members[i].first).dump() + ":");
    };
    std::vector<std::pair<size_t, size_t>> found;
    for (size_t i = 0; i < members.size(); ++i) {
      Matcher after = matcher;
      if (!accept(after, comma + json(members[i].first).dump() + ":")) continue;
      size_t impossible = 0;
      if (accept(after, members[i].second)) {
        for (size_t j = 0; j < members.size(); ++j) impossible += j != i && !begins(after, j, ",");
        found.emplace_back(impossible, i);
      }
    }
    std::sort(found.begin(), found.end());
    std::vector<size_t> result;
    for (const auto& [impossible, i] : found) result.push_back(i);
    return result;
  }

  bool accept_members(Matcher& matcher, const Members& members, const std::string& comma,
                      std::string& text) {
    if (members.empty()) {
      text += "}";
      return accept(matcher, "}");
    }
    if (Clock::now() > end_) return false;
    for (const size_t i : candidates(matcher, members, comma)) {
      Matcher after = matcher;
      Members others = members;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      const std::string key = comma + json(members[i].first).dump() + ":";
      if (!accept(after, key) || !accept(after, members[i].second)) continue;
      std::string rest = text + key + texts_[members[i].second];
      if (!accept_members(after, others, ",", rest)) continue;
      matcher = after;
      text = rest;
      return true;
    }
    return false;
  }

  JsonDocument document_;
  JsonId root_;
  std::map<JsonId, std::string> texts_;
  Clock::time_point end_ = Clock::now() + std::chrono::seconds(15);
};

json judge_tokens(Matcher matcher, const std::vector<int32_t>& tokens) {
  std::vector<uint64_t> mask(matcher.vocabulary().mask_words());
  std::vector<int64_t> times;
  size_t allowed = 0;
  for (const int32_t token : tokens) {
    const int64_t begin = processor_nanoseconds();
    matcher.mask(mask);
    times.push_back(processor_nanoseconds() - begin);
    const bool in_mask = ((mask[static_cast<size_t>(token) / 64] >> (token % 64)) & 1) != 0;
    require(matcher.accept(token) == in_mask, "the mask and accept() differ at token {}", allowed);
    if (!in_mask) break;
    ++allowed;
  }
  return {{"tokens", allowed},
          {"accepted", allowed == tokens.size() && matcher.is_accepting()},
          {"mask_ns", times}};
}

json answer(const json& request, const std::shared_ptr<const Vocabulary>& vocabulary) {
  const int64_t begin = processor_nanoseconds();
  std::vector<std::string> warnings;
  const std::shared_ptr<const Constraint> constraint = compile(request, warnings);
  const Matcher matcher(constraint, vocabulary);
  json result = {{"compile_us", static_cast<double>(processor_nanoseconds() - begin) / 1e3},
                 {"warnings", warnings},
                 {"texts", json::array()},
                 {"tokens", json::array()}};
  std::unique_ptr<SchemaValidator> validator;
  if (request.at("kind") == "json_schema")
    validator = std::make_unique<SchemaValidator>(request.at("source").get<std::string>(),
                                                  schema_options(request));
  for (const json& text : request.value("texts", json::array())) {
    json judged = judge_text(matcher, text_of(text));
    if (validator) judged["valid"] = !validator->violation(text_of(text));
    if (request.value("any_order", false) && !judged["accepted"])
      judged["accepted_in_order"] = MemberOrder(text_of(text)).is_accepted(matcher);
    result["texts"].push_back(judged);
  }
  for (const json& tokens : request.value("tokens", json::array())) {
    result["tokens"].push_back(judge_tokens(matcher, tokens.get<std::vector<int32_t>>()));
  }
  return result;
}

std::shared_ptr<const Vocabulary> read_vocabulary(const char* path) {
  std::vector<std::string> tokens;
  if (path != nullptr) {
    std::ifstream file(path);
    require(file.good(), "cannot read {}", path);
    for (std::string line; std::getline(file, line);) {
      tokens.push_back(decode_base64(line.substr(0, line.find(' '))).value());
    }
  }
  tokens.emplace_back();
  const auto end = static_cast<int32_t>(tokens.size() - 1);
  return Vocabulary::of(std::move(tokens), {end});
}

}  // namespace
}  // namespace heed::constrain

int main(int argc, char** argv) {
  using namespace heed::constrain;
  const auto vocabulary = read_vocabulary(argc > 1 ? argv[1] : nullptr);
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json result;
    const auto request = nlohmann::json::parse(line);
    const int64_t begin = processor_nanoseconds();
    try {
      result = answer(request, vocabulary);
    } catch (const std::exception& error) {
      const auto taken = static_cast<double>(processor_nanoseconds() - begin) / 1e3;
      result = {{"error", error.what()}, {"refused_us", taken}};
    }
    using Handler = nlohmann::json::error_handler_t;
    std::cout << result.dump(-1, ' ', false, Handler::replace) << std::endl;
  }
}

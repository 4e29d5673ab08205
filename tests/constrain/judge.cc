// Compiles constraints and matches texts, for the scripts of tests/judges/constrain: one JSON
// object a line on standard input, one a line on standard output.
//   {"schema": "{...}", "documents": {URI: "{...}"}, "formats": true, "instances": ["...", ...]}
//   {"compile_ms": 0.5, "warnings": [...], "accepted": [-1, 7, ...]}, or {"error": "..."}
// "accepted" has -1 for a text that the constraint allows, otherwise at which byte it does not; its
// length if the text is incomplete.
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/constrain/matcher.h"
#include "heed/constrain/schema/json_schema.h"

namespace {

using heed::constrain::Vocabulary;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

std::shared_ptr<const Vocabulary> vocabulary_of_bytes() {
  std::vector<std::string> tokens;
  for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
  tokens.emplace_back();
  return Vocabulary::of(std::move(tokens), {256});
}

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

Json judge(const Json& request, const std::shared_ptr<const Vocabulary>& vocabulary) {
  heed::constrain::SchemaOptions options;
  options.formats = request.value("formats", true);
  options.documents = request.value("documents", std::map<std::string, std::string>());
  Json answer;
  const Clock::time_point start = Clock::now();
  try {
    std::vector<std::string> warnings;
    const auto constraint = heed::constrain::compile_json_schema(
        request.at("schema").get<std::string>(), options, &warnings);
    answer["compile_ms"] = milliseconds_since(start);
    answer["warnings"] = warnings;
    std::vector<int64_t> accepted;
    for (const Json& instance : request.at("instances")) {
      const auto& text = instance.get_ref<const std::string&>();
      heed::constrain::Matcher matcher(constraint, vocabulary);
      size_t position = 0;
      while (position < text.size() &&
             matcher.accept_bytes(std::string_view(text).substr(position, 1)) == 1) {
        ++position;
      }
      const bool is_accepted = position == text.size() && matcher.is_accepting();
      accepted.push_back(is_accepted ? -1 : static_cast<int64_t>(position));
    }
    answer["accepted"] = accepted;
    answer["total_ms"] = milliseconds_since(start);
  } catch (const heed::Error& error) {
    answer["compile_ms"] = milliseconds_since(start);
    answer["error"] = error.what();
  }
  return answer;
}

}  // namespace

int main() {
  const auto vocabulary = vocabulary_of_bytes();
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << judge(Json::parse(line), vocabulary) << std::endl;
  }
}

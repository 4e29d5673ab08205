// Answers the judges of documents: reads a request a line, in JSON, and writes an answer a line.
//
// Request: {"format": "html", "text": "...", "translations": ["reversed", ...], "numbers": false}.
// The translations are those of `translations` below. Answer: {"segments": [...], "kept": [[...],
// ...], "documents": {"reversed": "...", ...}}, or {"error": "..."}.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "heed/document/document.h"
#include "heed/error.h"

namespace heed::document {
namespace {

using nlohmann::json;
using Translate = TranslatedSegment (*)(const Segment& segment);

/// Words are separated by spaces, but for those that a kept part goes over.
std::vector<ByteRange> words_of(const Segment& segment) {
  std::vector<ByteRange> words;
  size_t begin = 0;
  auto kept = segment.kept.begin();
  for (size_t at = 0; at <= segment.text.size(); ++at) {
    while (kept != segment.kept.end() && kept->end <= at) ++kept;
    const bool inside = kept != segment.kept.end() && kept->begin < at;
    if (at < segment.text.size() && (segment.text[at] != ' ' || inside)) continue;
    if (begin < at) words.push_back({begin, at});
    begin = at + 1;
  }
  return words;
}

std::string text_of(const Segment& segment, ByteRange range) {
  return segment.text.substr(range.begin, range.end - range.begin);
}

TranslatedSegment reordered(const Segment& segment, const std::vector<ByteRange>& words) {
  TranslatedSegment result;
  for (const ByteRange word : words) {
    if (!result.text.empty()) result.text += ' ';
    const size_t begin = result.text.size();
    result.text += text_of(segment, word);
    result.alignment.push_back({word, {begin, result.text.size()}});
  }
  return result;
}

TranslatedSegment identity(const Segment& segment) { return {segment.text}; }

/// The same but for a word at the end, without an alignment.
TranslatedSegment longer(const Segment& segment) { return {segment.text + " again"}; }

TranslatedSegment reversed(const Segment& segment) {
  std::vector<ByteRange> words = words_of(segment);
  std::ranges::reverse(words);
  return reordered(segment, words);
}

TranslatedSegment shuffled(const Segment& segment) {
  std::vector<ByteRange> words = words_of(segment);
  std::ranges::shuffle(words, std::minstd_rand(static_cast<uint32_t>(segment.text.size())));
  return reordered(segment, words);
}

TranslatedSegment reversed_unaligned(const Segment& segment) { return {reversed(segment).text}; }

/// Other words, more or fewer, with an alignment that means nothing.
TranslatedSegment random(const Segment& segment) {
  std::minstd_rand random(static_cast<uint32_t>(std::hash<std::string>()(segment.text)));
  const std::vector<ByteRange> words = words_of(segment);
  const std::vector<std::string> others{
      "word", "<b>", "&",      "{name}", "%s",   "]]>",         "\"",      "*",
      "_a_",  "`",   "[x](y)", "été",    "言葉", "http://e.x/", "%1$s%",   "{",
      "}",    "\\",  "#",      "-",      "1.",   "|",           "a@b.org", "{{x}}",
      "</p>", "~",   "--",     "\n",     "-->",  "<!--",        "=",       ">"};
  TranslatedSegment result{"word "};
  const size_t count = 1 + random() % (2 * words.size() + 1);
  for (size_t i = 0; i < count; ++i) {
    const ByteRange word = words[random() % words.size()];
    const size_t begin = result.text.size();
    result.text += random() % 2 == 0 ? text_of(segment, word) : others[random() % others.size()];
    if (random() % 3 > 0) result.alignment.push_back({word, {begin, result.text.size()}});
    if (random() % 4 > 0) result.text += ' ';
  }
  return result;
}

TranslatedSegment one_word(const Segment& /*segment*/) { return {"word"}; }
TranslatedSegment nothing(const Segment& /*segment*/) { return {}; }

const std::map<std::string, Translate> translations{{"identity", identity},
                                                    {"longer", longer},
                                                    {"reversed", reversed},
                                                    {"shuffled", shuffled},
                                                    {"reversed_unaligned", reversed_unaligned},
                                                    {"random", random},
                                                    {"one_word", one_word},
                                                    {"nothing", nothing}};

json answer(const json& request) {
  KeepOptions keep;
  keep.numbers = request.value("numbers", false);
  const Document document = Document::read(
      request.at("text"), format_named(request.at("format").get<std::string>()), keep);
  json result = {{"segments", json::array()}, {"kept", json::array()}};
  for (const Segment& segment : document.segments()) {
    result["segments"].push_back(segment.text);
    result["kept"].push_back(json::array());
    for (const ByteRange range : segment.kept)
      result["kept"].back().push_back(text_of(segment, range));
  }
  for (const std::string name : request.at("translations")) {
    std::vector<TranslatedSegment> translated;
    for (const Segment& segment : document.segments())
      translated.push_back(translations.at(name)(segment));
    result["documents"][name] = document.with(translated);
  }
  return result;
}

}  // namespace
}  // namespace heed::document

int main() {
  std::ios::sync_with_stdio(false);
  for (std::string line; std::getline(std::cin, line);) {
    nlohmann::json result;
    try {
      result = heed::document::answer(nlohmann::json::parse(line));
    } catch (const heed::Error& error) {
      result = {{"error", error.what()}};
    }
    std::cout << result.dump() << std::endl;
  }
}

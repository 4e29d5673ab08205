// Every option of generation, of searches and of loading a model is in each of its faces: the
// command line, the C API, Python and the documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>

#include "heed/base/file.h"
#include "heed/engine/load_options.h"
#include "heed/generate/generate_options.h"

namespace heed {
namespace {

std::string source(const std::string& path) {
  return read_file(std::filesystem::path(HEED_SOURCE_DIR) / path);
}

/// From the first `begin` to the next `end`.
std::string part(const std::string& text, std::string_view begin, std::string_view end) {
  const size_t first = text.find(begin);
  EXPECT_NE(first, text.npos) << "there is no \"" << begin << '"';
  if (first == text.npos) return "";
  return text.substr(first, text.find(end, first + begin.size()) - first);
}

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "";
  std::string output;
  std::array<char, 4096> buffer;
  while (const size_t size = fread(buffer.data(), 1, buffer.size(), pipe))
    output.append(buffer.data(), size);
  EXPECT_EQ(pclose(pipe), 0) << command;
  return output;
}

/// A place where options are said, and what says one there: an expression in which NAME stands for
/// the option, DASHED for the same with dashes, and TYPE for its type in Python.
struct Face {
  std::string name, text, pattern;
  std::map<std::string, std::string> spellings = {};  // of options; "": the face does without it

  bool has(const std::string& option, const std::string& type) const {
    const auto found = spellings.find(option);
    const std::string spelt = found == spellings.end() ? option : found->second;
    if (spelt.empty()) return true;
    std::string expression = std::regex_replace(pattern, std::regex("NAME"), spelt);
    std::string dashed = spelt;
    std::ranges::replace(dashed, '_', '-');
    expression = std::regex_replace(expression, std::regex("DASHED"), dashed);
    expression = std::regex_replace(expression, std::regex("TYPE"), type);
    return std::regex_search(text, std::regex(expression));
  }
};

const std::vector<Face>& faces() {
  static const std::vector<Face> all{
      {"heed generate --help",
       output_of(HEED_PROGRAM " generate --help"),
       "\n *--DASHED[ ,\n]",
       {{"top_log_probabilities", "logprobs"}, {"end_tokens", ""}, {"skip_special_tokens", ""}}},
      {"include/heed/c_generate.h",
       part(source("include/heed/c_generate.h"), "struct heed_generate_options {", "}"),
       "\\bNAME *[,;]"},
      {"src/capi/abi.txt", part(source("src/capi/abi.txt"), "struct heed_generate_options {", "}"),
       "\\bNAME[,;]"},
      {"python/heed/options.py",
       part(source("python/heed/options.py"), "class GenerateOptions(", "\nclass "),
       "\n    NAME: TYPE \\| None "},
      {"docs/api.md",
       part(source("docs/api.md"), "## POST /v1/chat/completions", "## POST /v1/completions"),
       "`NAME`",
       {{"max_new_tokens", "max_tokens"},
        {"end_tokens", "stop_token_ids"},
        {"top_log_probabilities", "logprobs"},
        {"sample", ""},
        {"batch_tokens", ""}}}};
  return all;
}

/// What only the options of sampling have.
const std::vector<Face>& faces_of_sampling() {
  static const std::vector<Face> all{
      {"docs/chat.md", part(source("docs/chat.md"), "| `/set", "\n"), "`DASHED`"},
      {"docs/models.md",
       part(part(source("docs/models.md"), "## generation_config.json", "\n## "), "| applied |",
            "\n"),
       "`NAME`",
       {{"presence_penalty", ""}, {"frequency_penalty", ""}}}};
  return all;
}

const std::vector<Face>& faces_of_searches() {
  static const std::vector<Face> all{
      {"heed translate --help",
       output_of(HEED_PROGRAM " translate --help"),
       "\n *--DASHED[ ,\n]",
       {{"n_best", "nbest"}}},
      {"include/heed/c_generate.h",
       part(source("include/heed/c_generate.h"), "struct heed_search_options {", "}"),
       "\\bNAME *[,;]"},
      {"src/capi/abi.txt", part(source("src/capi/abi.txt"), "struct heed_search_options {", "}"),
       "\\bNAME[,;]"},
      {"python/heed/options.py",
       part(source("python/heed/options.py"), "class SearchOptions(", "\nclass "),
       "\n    NAME: TYPE \\| None "},
      {"docs/api.md",
       part(source("docs/api.md"), "## POST /v1/translate", "\n## "),
       "`NAME`",
       {{"max_new_tokens_over_source", ""}, {"scores", ""}}}};
  return all;
}

const std::vector<Face>& faces_of_loads() {
  static const std::vector<Face> all{
      {"heed generate --help", output_of(HEED_PROGRAM " generate --help"), "\n *--DASHED[ ,\n]"},
      {"include/heed/c_model.h",
       part(source("include/heed/c_model.h"), "struct heed_load_options {", "}"), "\\bNAME *[,;]"},
      {"src/capi/abi.txt", part(source("src/capi/abi.txt"), "struct heed_load_options {", "}"),
       "\\bNAME[,;]"},
      {"python/heed/options.py",
       part(source("python/heed/options.py"), "class LoadOptions(", "\nclass "),
       "\n    NAME: .*None "},
      {"deploy/serve.toml", source("deploy/serve.toml"), "\n# NAME = ", {{"random_weights", ""}}}};
  return all;
}

template <typename Number>
std::string python_type() {
  if constexpr (std::is_same_v<Number, bool>) return "bool";
  if constexpr (std::is_integral_v<Number>) return "int";
  if constexpr (std::is_floating_point_v<Number>) return "float";
  return "[A-Z].*";
}

std::string missing(const std::vector<Face>& where, const std::string& option,
                    const std::string& type) {
  std::string lines;
  for (const Face& face : where)
    if (!face.has(option, type)) lines += "option " + option + ": not in " + face.name + '\n';
  return lines;
}

TEST(OptionFaces, HaveEveryOption) {
  generate::for_each_generate_option([]<typename Option>(const Option& option) {
    const std::string type = python_type<typename Option::Number>();
    EXPECT_EQ(missing(faces(), std::string(option.name), type), "");
  });
  generate::for_each_search_option([]<typename Option>(const Option& option) {
    const std::string type = python_type<typename Option::Number>();
    EXPECT_EQ(missing(faces_of_searches(), std::string(option.name), type), "");
  });
  engine::for_each_load_option([](const auto& option) {
    EXPECT_EQ(missing(faces_of_loads(), std::string(option.name), ""), "");
  });
  generate::for_each_sampling_option([](const auto& option) {
    EXPECT_EQ(missing(faces_of_sampling(), std::string(option.name), ""), "");
  });
}

TEST(OptionFaces, AreNamedWhereAnOptionIsMissing) {
  EXPECT_EQ(missing(faces(), "top_z", "float"),
            "option top_z: not in heed generate --help\n"
            "option top_z: not in include/heed/c_generate.h\n"
            "option top_z: not in src/capi/abi.txt\n"
            "option top_z: not in python/heed/options.py\n"
            "option top_z: not in docs/api.md\n");
  EXPECT_EQ(missing(faces(), "top_k", "float"), "option top_k: not in python/heed/options.py\n");
  EXPECT_EQ(missing(faces_of_sampling(), "top_z", ""),
            "option top_z: not in docs/chat.md\noption top_z: not in docs/models.md\n");
}

/// The page offers some of the options.
TEST(OptionFaces, OfThePageHaveTheRangesOfTheServer) {
  const std::string page = source("src/heed/serve/page/page.html");
  int found = 0;
  generate::for_each_sampling_option([&](const auto& option) {
    const std::string begin = fmt::format("name=\"{}\" ", option.name);
    if (page.find(begin) == page.npos) return;
    ++found;
    const std::string input = part(page, begin, ">");
    const std::string range =
        fmt::format("min=\"{}\" max=\"{}\"", option.served.min, option.served.max);
    EXPECT_NE(input.find(range), input.npos) << input << ": expected " << range;
  });
  EXPECT_GE(found, 5);
}

}  // namespace
}  // namespace heed

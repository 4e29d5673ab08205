// Every option that is declared in a table is in each of its faces: the command line, the C API,
// Python, serve.toml and the documents.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <regex>

#include "heed/base/file.h"
#include "heed/chat/chat_options.h"
#include "heed/engine/engine_options.h"
#include "heed/engine/load_options.h"
#include "heed/generate/generate_options.h"
#include "heed/serve/server_options.h"
#include "heed/tasks/task_options.h"
#include "heed/text/tokenizer_options.h"

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

/// What the faces of an option say of it.
struct Said {
  std::string name, key, python_type, standard;
};

template <typename Number>
std::string python_type() {
  if constexpr (std::is_same_v<Number, bool>) return "bool";
  if constexpr (std::is_integral_v<Number>) return "int";
  if constexpr (std::is_same_v<Number, std::string>) return "str";
  if constexpr (std::is_floating_point_v<Number>) return "float";
  if constexpr (std::is_same_v<Number, std::chrono::milliseconds>) return "float";
  return "[A-Z].*";
}

/// The default as serve.toml has it.
template <typename Value>
std::string standard(const Value& value) {
  if constexpr (std::is_arithmetic_v<Value>) return fmt::format("{}", value);
  if constexpr (std::is_same_v<Value, std::chrono::milliseconds>)
    return fmt::format("{}", value.count() / 1000);
  return ".*";
}

template <typename Declared, typename Options = GenerateOptions>
Said said(const Declared& option, const Options& defaults = {}) {
  return {std::string(option.name), std::string(option.key),
          python_type<typename Declared::Number>(), standard(defaults.*option.field)};
}

using Spellings = std::map<std::string, std::string>;

/// A place where options are said, and what says one there: an expression in which NAME stands for
/// the option, KEY for its key, DASHED for the same with dashes, TYPE for its type in Python and
/// DEFAULT for its default.
struct Face {
  std::string name, text, pattern;
  Spellings spellings = {};  // of options; "": the face does without it

  bool has(const Said& option) const {
    const auto found = spellings.find(option.name);
    const bool other = found != spellings.end();
    if (other && found->second.empty()) return true;
    const std::string key = other ? found->second : option.key;
    std::string dashed = key;
    std::ranges::replace(dashed, '_', '-');
    std::string expression = pattern;
    for (const auto& [place, by] : Spellings{{"NAME", other ? key : option.name},
                                             {"KEY", key},
                                             {"DASHED", dashed},
                                             {"TYPE", option.python_type},
                                             {"DEFAULT", option.standard}})
      expression = std::regex_replace(expression, std::regex(place), by);
    return std::regex_search(text, std::regex(expression));
  }
};

Face program(const std::string& command, const Spellings& spellings = {}) {
  return {"heed " + command + " --help", output_of(HEED_PROGRAM " " + command + " --help"),
          "\n *--DASHED[ ,\n]", spellings};
}

Face c_header(const std::string& header, const std::string& type, const Spellings& spellings = {}) {
  const std::string path = "include/heed/" + header;
  return {path, part(source(path), "struct " + type + " {", "}"), "\\bNAME *[,;]", spellings};
}

Face c_record(const std::string& type, const Spellings& spellings = {}) {
  return {"src/capi/abi.txt", part(source("src/capi/abi.txt"), "struct " + type + " {", "}"),
          "\\bNAME[,;]", spellings};
}

/// Keywords, which may be None.
Face python(const std::string& type, const Spellings& spellings = {}) {
  return {"python/heed/options.py",
          part(source("python/heed/options.py"), "class " + type + "(", "\nclass "),
          "\n    KEY: (.*\\| )?TYPE \\| None\\b", spellings};
}

/// Members of a dict.
Face python_dict(const std::string& type, const Spellings& spellings = {}) {
  Face face = python(type, spellings);
  face.pattern = "\n    KEY: TYPE[ \n]";
  return face;
}

Face configuration(const std::string& pattern, const Spellings& spellings = {}) {
  return {"deploy/serve.toml", source("deploy/serve.toml"), pattern, spellings};
}

Face api_document(const std::string& route, const Spellings& spellings) {
  return {"docs/api.md", part(source("docs/api.md"), "## POST " + route, "\n## "), "`NAME`",
          spellings};
}

std::string missing(const std::vector<Face>& faces, const Said& option) {
  std::string lines;
  for (const Face& face : faces)
    if (!face.has(option)) lines += "option " + option.name + ": not in " + face.name + '\n';
  return lines;
}

template <typename Table>
std::string missing(const std::vector<Face>& faces) {
  std::string lines;
  Table::for_each([&](const auto& option) {
    lines += missing(faces, said(option, typename Table::Options()));
  });
  return lines;
}

const std::vector<Face>& faces_of_generation() {
  static const std::vector<Face> all{
      program(
          "generate",
          {{"top_log_probabilities", "logprobs"}, {"end_tokens", ""}, {"skip_special_tokens", ""}}),
      c_header("c_generate.h", "heed_generate_options"), c_record("heed_generate_options"),
      python("GenerateOptions"),
      api_document("/v1/chat/completions", {{"max_new_tokens", "max_tokens"},
                                            {"min_new_tokens", "min_tokens"},
                                            {"end_tokens", "stop_token_ids"},
                                            {"top_log_probabilities", "logprobs"},
                                            {"sample", ""},
                                            {"batch_tokens", ""}})};
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

TEST(OptionFaces, HaveTheOptionsOfGeneration) {
  EXPECT_EQ(missing<generate::GenerateOption>(faces_of_generation()), "");
  // A file or a text has a grammar, of either kind.
  const Spellings grammars{{"gbnf", "grammar"}, {"lark", "grammar"}};
  Spellings of_python = grammars;
  of_python["json_schema"] = "schema";
  Spellings of_server = grammars;
  of_server["json_white_space"] = "disable_any_whitespace";
  EXPECT_EQ(
      missing<generate::StructuredOutputOption>(
          {program("generate", grammars), program("chat", grammars),
           c_header("c_generate.h", "heed_structured_output"), c_record("heed_structured_output"),
           python("GenerateOptions", of_python), api_document("/v1/chat/completions", of_server)}),
      "");
  generate::for_each_sampling_option(
      [](const auto& option) { EXPECT_EQ(missing(faces_of_sampling(), said(option)), ""); });
  EXPECT_EQ(
      missing<generate::SearchOption>(
          {program("translate", {{"n_best", "nbest"}}),
           c_header("c_generate.h", "heed_search_options"), c_record("heed_search_options"),
           python("SearchOptions"),
           api_document("/v1/translate", {{"max_new_tokens_over_source", ""}, {"scores", ""}})}),
      "");
  // Batches are the server's.
  EXPECT_EQ(missing<generate::TranslateOption>(
                {program("translate"), c_header("c_generate.h", "heed_translate_options"),
                 c_record("heed_translate_options"),
                 python("SearchOptions", {{"source_language", ""},
                                          {"target_language", ""},
                                          {"via", ""},
                                          {"alignments", ""},
                                          {"confidence", ""},
                                          {"glossary", ""},
                                          {"do_not_translate", ""}}),
                 python("TranslateOptions", {{"batch_tokens", ""}}),
                 api_document("/v1/translate", {{"batch_tokens", ""}})}),
            "");
}

TEST(OptionFaces, HaveTheOptionsOfDocuments) {
  EXPECT_EQ(missing<generate::DocumentOption>(
                {program("translate"), c_header("c_generate.h", "heed_document_options"),
                 c_record("heed_document_options"), python("DocumentOptions")}),
            "");
}

TEST(OptionFaces, HaveTheOptionsOfLoading) {
  EXPECT_EQ(missing<engine::LoadOption>(
                {program("generate", {{"shortlist", ""}}), program("translate", {{"cache", ""}}),
                 c_header("c_model.h", "heed_load_options"), c_record("heed_load_options"),
                 python("LoadOptions"), configuration("\n# KEY = ", {{"random_weights", ""}})}),
            "");
  EXPECT_EQ(missing<engine::SpeculationOption>(
                {program("generate", {{"ngram", "speculate"}}),
                 c_header("c_model.h", "heed_load_options", {{"ngram", "speculate_ngram"}}),
                 c_record("heed_load_options", {{"ngram", "speculate_ngram"}}),
                 python_dict("SpeculationOptions"),
                 configuration("# .*\\bKEY = ", {{"ngram", "speculate"}})}),
            "");
  EXPECT_EQ(missing<engine::AdapterOption>({c_header("c_model.h", "heed_adapter"),
                                            c_record("heed_adapter"), python_dict("AdapterOptions"),
                                            configuration("\n# KEY = ")}),
            "");
  // The program and the server take them from the environment.
  EXPECT_EQ(missing<engine::HubOption>({c_header("c_model.h", "heed_hub_options"),
                                        c_record("heed_hub_options"), python_dict("HubOptions")}),
            "");
}

TEST(OptionFaces, HaveTheOptionsOfTokenizers) {
  const Face parameters{"python/heed/_tokenizer.py",
                        part(source("python/heed/_tokenizer.py"), "def train(", "->"),
                        "\n        KEY: "};
  EXPECT_EQ(missing<text::TrainTokenizerOption>(
                {program("tokenizer train", {{"vocab_size", "size"},
                                             {"special_tokens", "special-token"},
                                             {"character_coverage", ""}}),
                 c_header("c_text.h", "heed_train_tokenizer_options"),
                 c_record("heed_train_tokenizer_options"), parameters}),
            "");
}

TEST(OptionFaces, HaveTheOptionsOfTasks) {
  EXPECT_EQ(
      missing<tasks::EmbedOption>({program("embed"), c_header("c_read.h", "heed_embed_options"),
                                   c_record("heed_embed_options"), python("EmbedOptions")}),
      "");
  EXPECT_EQ(missing<tasks::ClassifyOption>(
                {program("classify", {{"prompt", ""}}), program("rerank"),
                 c_header("c_read.h", "heed_classify_options"), c_record("heed_classify_options"),
                 python("ClassifyOptions")}),
            "");
  EXPECT_EQ(
      missing<tasks::ScoreOption>({program("score"), c_header("c_read.h", "heed_score_options"),
                                   c_record("heed_score_options"), python("ScoreOptions")}),
      "");
  // The server has a limit of its own, and the program draws.
  const Spellings none{{"max_weights", ""}};
  EXPECT_EQ(missing<tasks::AttentionOption>(
                {program("attend", none), c_header("c_read.h", "heed_attention_options"),
                 c_record("heed_attention_options"), python("AttentionOptions"),
                 api_document("/v1/attention", none)}),
            "");
  // The program knows the name of the model and the terminal.
  EXPECT_EQ(missing<engine::DrawingOption>(
                {program("attend", {{"model_name", ""}, {"columns", ""}, {"color", ""}})}),
            "");
}

TEST(OptionFaces, HaveTheOptionsOfChatsAndSessions) {
  // An answer follows add_generation_prompt. Whoever asks a server is not to pose as the model.
  const Spellings answers{{"add_generation_prompt", ""}};
  const Spellings typed{{"add_generation_prompt", ""},
                        {"parallel_tool_calls", "no_parallel_tool_calls"}};
  EXPECT_EQ(
      missing<chat::ChatOption>(
          {program("chat", typed), program("generate", typed),
           c_header("c_generate.h", "heed_chat_options", answers),
           c_record("heed_chat_options", answers), c_header("c_text.h", "heed_chat_prompt_options"),
           c_record("heed_chat_prompt_options"),
           // Others are parameters of Model.chat().
           python("ChatOptions", {{"tools", ""}, {"chat_template_kwargs", ""}}),
           api_document("/v1/chat/completions", {{"add_generation_prompt", ""},
                                                 {"chat_template", ""},
                                                 {"control_tokens_in_messages", ""}})}),
      "");
  EXPECT_EQ(missing<engine::ConversationOption>({program("chat")}), "");
  EXPECT_EQ(
      missing<engine::SessionOption>({c_header("c_session.h", "heed_session_options"),
                                      c_record("heed_session_options"), python("SessionOptions")}),
      "");
  const Spellings number{{"number", ""}};  // first_number of heed_generate_options
  EXPECT_EQ(
      missing<engine::RequestOption>({c_header("c_session.h", "heed_request", number),
                                      c_record("heed_request", number), python("RequestOptions")}),
      "");
}

TEST(OptionFaces, HaveTheOptionsOfTheServer) {
  const Face document{"docs/serving.md", part(source("docs/serving.md"), "## Limits", "\n## "),
                      "`KEY`"};
  const auto c_faces = [](const std::string& type, const Spellings& spellings) {
    return std::vector{c_header("c_serve.h", type, spellings), c_record(type, spellings)};
  };
  // A server in C has models that are loaded.
  // Its function of the log leaves out what it does not want.
  std::vector<Face> faces =
      c_faces("heed_server_options", {{"memory_limit", ""}, {"log_health", ""}});
  faces.insert(faces.end(), {program("serve", {{"api_keys", "api_key_file"},
                                               {"cors_origins", "cors_origin"},
                                               {"request_time", ""},
                                               {"log_health", ""},
                                               {"unknown_fields", ""}}),
                             python("ServerOptions"),
                             configuration("\n(# )?KEY = ", {{"api_keys", "api_key_file"}})});
  EXPECT_EQ(missing<serve::ServerOption>(faces), "");

  faces = c_faces("heed_server_options", {});
  faces.insert(faces.end(),
               {python("ServerOptions"), configuration("\nKEY = DEFAULT[ \n]"), document});
  EXPECT_EQ(missing<serve::HttpLimit>(faces), "");

  faces = c_faces("heed_server_options",
                  {{"requests", "queued_requests"}, {"tokens", "queued_tokens"}});
  faces.insert(faces.end(),
               {python("ServerOptions"), configuration("\nKEY = DEFAULT[ \n]"), document});
  EXPECT_EQ(missing<serve::QueueLimit>(faces), "");

  faces = c_faces("heed_served_model", {});
  faces.insert(faces.end(),
               {python("ServedModel"), configuration("\nKEY = DEFAULT[ \n]"), document});
  EXPECT_EQ(missing<serve::BatchingOption>(faces), "");

  EXPECT_EQ(missing<serve::ApiKeyOption>({configuration("\n# KEY = ")}), "");

  // A model that is loaded may be added several times.
  faces = c_faces("heed_served_model", {{"path", ""}, {"on_first_use", ""}, {"aliases", ""}});
  // serve() has models by their names.
  faces.insert(faces.end(), {python_dict("ServedModel", {{"name", ""}, {"path", ""}}),
                             configuration("\n(# )?KEY = ")});
  EXPECT_EQ(missing<serve::ModelSourceOption>(faces), "");

  // A program in C or Python says them when it makes an executor and stops the server.
  EXPECT_EQ(missing<serve::ServerConfigOption>({program("serve", {{"drain_time", ""}}),
                                                configuration("\n(# KEY = |KEY = DEFAULT[ \n])")}),
            "");
}

TEST(OptionFaces, AreNamedWhereAnOptionIsMissing) {
  EXPECT_EQ(missing(faces_of_generation(), {"top_z", "top_z", "float", ""}),
            "option top_z: not in heed generate --help\n"
            "option top_z: not in include/heed/c_generate.h\n"
            "option top_z: not in src/capi/abi.txt\n"
            "option top_z: not in python/heed/options.py\n"
            "option top_z: not in docs/api.md\n");
  EXPECT_EQ(missing(faces_of_generation(), {"top_k", "top_k", "float", ""}),
            "option top_k: not in python/heed/options.py\n");
  EXPECT_EQ(missing(faces_of_sampling(), {"top_z", "top_z", "", ""}),
            "option top_z: not in docs/chat.md\noption top_z: not in docs/models.md\n");
  EXPECT_EQ(
      missing({configuration("\nKEY = DEFAULT[ \n]")}, {"requests", "queued_requests", "", "1"}),
      "option requests: not in deploy/serve.toml\n");
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

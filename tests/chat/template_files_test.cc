#include "heed/chat/template_files.h"

#include "heed/chat/chat_template.h"
#include "tests/base/testing.h"
#include "tests/text/golden_tokenizers.h"

namespace heed::chat {
namespace {

std::string names_of(const std::filesystem::path& model) {
  std::string names;
  for (const StoredTemplate& stored : read_chat_templates(model))
    names += stored.name + '=' + stored.source + ' ';
  return names;
}

TEST(TemplateFiles, AreReadWhereTransformersReadsThem) {
  const TemporaryDirectory folder;
  const auto write = [&](const char* name, const std::string& text) {
    write_quickly(folder.path() / name, text);
  };
  EXPECT_EQ(names_of(folder.path()), "");
  write("tokenizer_config.json", R"({"chat_template": null})");
  EXPECT_EQ(names_of(folder.path()), "");
  write("tokenizer_config.json", R"({"chat_template": "a"})");
  EXPECT_EQ(names_of(folder.path()), "default=a ");
  write(
      "tokenizer_config.json",
      R"({"chat_template": [{"name": "default", "template": "b"}, {"name": "tool_use", "template": "c"}]})");
  EXPECT_EQ(names_of(folder.path()), "default=b tool_use=c ");
  std::filesystem::create_directory(folder.path() / "additional_chat_templates");
  write("additional_chat_templates/tool_use.jinja", "e");
  write("chat_template.jinja", "d");
  EXPECT_EQ(names_of(folder.path()), "default=d tool_use=e ");
}

TEST(TemplateFiles, RefuseOtherValues) {
  const TemporaryDirectory folder;
  for (const auto& [json, message] :
       {std::pair{R"({"chat_template": 1})", "chat_template is 1, expected a string or a list"},
        std::pair{R"({"chat_template": [1]})", "chat_template holds 1"},
        std::pair{R"({"chat_template": [{"name": "default"}]})", "template"}}) {
    write_quickly(folder.path() / "tokenizer_config.json", json);
    expect_error([&] { read_chat_templates(folder.path()); }, message);
  }
}

TEST(ChatTemplates, AreChosenByTools) {
  const TemporaryDirectory folder;
  const text::Tokenizer tokenizer = text::golden_tokenizer("qwen2");
  expect_error([&] { ChatTemplates(folder.path(), tokenizer); }, "has no chat template, expected");
  write_quickly(folder.path() / "tokenizer_config.json",
                R"({"chat_template": [{"name": "default", "template": "plain"},
                                      {"name": "tool_use", "template": "{{ tools }}with"},
                                      {"name": "rag", "template": "{% broken"}]})");
  const ChatTemplates templates(folder.path(), tokenizer);
  const std::vector<ChatMessage> messages{{.role = "user", .content = "a"}};
  EXPECT_EQ(templates.choose({}).prompt(messages, {}).text, "plain");
  EXPECT_EQ(templates.choose({.tools = "[]"}).prompt(messages, {}).text, "Nonewith");
  EXPECT_EQ(&templates.choose({.tools = "[]", .tool_choice = "none"}), &templates.choose({}));
}

}  // namespace
}  // namespace heed::chat

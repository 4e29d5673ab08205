#include "heed/train/tasks/chat_task.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/chat/chat_template.h"
#include "heed/chat/messages.h"
#include "heed/train/tasks/continuations.h"
#include "heed/train/tasks/example_lines.h"

namespace heed::train {
namespace {

data::Conversation read_conversation(const chat::ChatTemplates& templates, const std::string& line,
                                     const std::string& where) {
  const nlohmann::ordered_json json = parse_ordered_json(line, where);
  ChatOptions options;
  if (json.is_object() && json.contains("tools")) options.tools = dump_json(json["tools"]);
  const std::vector<ChatMessage> messages = chat::read_messages(json, where);
  chat::ChatTemplate::Turns turns;
  try {
    turns = templates.choose(!options.tools.empty()).turns(messages, options);
  } catch (const Error& error) {
    fail("{}: {}", where, error.what());
  }
  // The first token is never predicted.
  const auto& assistant = turns.assistant;
  require(assistant.size() >= 2 &&
              std::find(assistant.begin() + 1, assistant.end(), true) != assistant.end(),
          "{}: an assistant wrote nothing in this conversation", where);
  return {std::move(turns.tokens), std::move(turns.assistant)};
}

/// Where the last answer begins.
size_t last_answer(const data::Conversation& one) {
  const auto end = std::find(one.assistant.rbegin(), one.assistant.rend(), true);
  const auto begin = std::find(end, one.assistant.rend(), false);
  return static_cast<size_t>(one.assistant.rend() - begin);
}

}  // namespace

ChatTask::ChatTask(const TrainConfig& config, const std::filesystem::path& start,
                   Observer& observer)
    : Task(config.model),
      seed_(config.run.seed),
      named_(prepare_tokenizer(config, start, {}, model_, observer)) {
  const chat::ChatTemplates templates(start, named_.tokenizer);
  auto examples = read_examples(
      config, "conversation", observer,
      [&](const std::string& line, const std::string& where) {
        return read_conversation(templates, line, where);
      },
      [](const data::Conversation& one) { return one.tokens.size() - 1; });
  fingerprint_ = examples.fingerprint;
  samples_ = first_of(examples.valid, config.validation.samples);
  train_ = std::make_unique<data::ConversationDataset>(std::move(examples.train));
  valid_ = std::make_unique<data::ConversationDataset>(std::move(examples.valid));
}

void ChatTask::evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                        ValidationRecord& record) const {
  std::vector<std::vector<int32_t>> prompts;
  for (const data::Conversation& one : samples_) {
    const size_t begin = std::max<size_t>(last_answer(one), 1);
    prompts.emplace_back(one.tokens.begin(),
                         one.tokens.begin() + static_cast<std::ptrdiff_t>(begin));
    const std::vector<int32_t> answer(one.tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                      one.tokens.end());
    record.samples.push_back(
        {named_.tokenizer.decode(prompts.back()), named_.tokenizer.decode(answer), ""});
  }
  add_continuations(model, named_.tokenizer, compute, seed_, prompts, group, record);
}

}  // namespace heed::train

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/chat/chat_template.h"
#include "heed/chat/messages.h"
#include "heed/data/conversation_dataset.h"
#include "heed/train/tasks/continuations.h"
#include "heed/train/tasks/example_lines.h"
#include "heed/train/tasks/tasks.h"
#include "heed/train/tasks/vocabulary.h"

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
    turns = templates.choose(options).turns(messages, options);
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

/// The first token of the last answer.
size_t last_answer(const data::Conversation& one) {
  const auto end = std::find(one.assistant.rbegin(), one.assistant.rend(), true);
  const auto begin = std::find(end, one.assistant.rend(), false);
  return static_cast<size_t>(one.assistant.rend() - begin);
}

/// Conversations of a decoder-only model with a chat template. The text is JSON lines, each a list
/// of messages or an object with "messages" and perhaps "tools". Only what assistants wrote is
/// predicted, and the tokens that end it.
class ChatTask : public Task {
 public:
  /// Throws Error when the model has no chat template and, naming the line, on one that is not a
  /// conversation, has no answer, or that the template refuses. Conversations longer than a window
  /// are left out.
  ChatTask(const TrainConfig& config, const std::filesystem::path& start, Observer& observer)
      : Task(config.model),
        seed_(config.run.seed),
        vocabulary_(prepare_tokenizer(config, start, {}, model_, observer)) {
    const chat::ChatTemplates templates(start, vocabulary_.tokenizer);
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

  std::vector<checkpoint::NamedFile> files() const override { return vocabulary_.files; }
  std::string piece(int32_t token) const override { return piece_of(vocabulary_.tokenizer, token); }
  SampleNames sample_names() const override { return {"conversation", "reference", "answer"}; }
  /// Samples the last answers of a few validation conversations.
  void evaluate(const model::Transformer& model, Compute compute, distribute::Group& group,
                ValidationRecord& record) const override {
    std::vector<std::vector<int32_t>> prompts;
    for (const data::Conversation& one : samples_) {
      const size_t begin = std::max<size_t>(last_answer(one), 1);
      prompts.emplace_back(one.tokens.begin(),
                           one.tokens.begin() + static_cast<std::ptrdiff_t>(begin));
      const std::vector<int32_t> answer(one.tokens.begin() + static_cast<std::ptrdiff_t>(begin),
                                        one.tokens.end());
      record.samples.push_back(
          {vocabulary_.tokenizer.decode(prompts.back()), vocabulary_.tokenizer.decode(answer), ""});
    }
    add_continuations(model, vocabulary_.tokenizer, compute, seed_, prompts, group, record);
  }

 private:
  uint64_t seed_;
  TokenizerWithFiles vocabulary_;
  std::vector<data::Conversation> samples_;
};

}  // namespace

std::unique_ptr<Task> make_chat_task(const TrainConfig& config, const std::filesystem::path& start,
                                     Observer& observer) {
  return std::make_unique<ChatTask>(config, start, observer);
}

}  // namespace heed::train

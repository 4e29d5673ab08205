#include "heed/train/tasks/chat_task.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/json.h"
#include "heed/chat/chat_template.h"
#include "heed/chat/messages.h"
#include "heed/train/tasks/continuations.h"
#include "heed/train/tasks/hold_out.h"

namespace heed::train {
namespace {

/// Reads the conversations of one file.
class Reader {
 public:
  Reader(const chat::ChatTemplates& templates, int64_t longest, Observer& observer)
      : templates_(templates), longest_(longest), observer_(observer) {}

  std::vector<data::Conversation> read(const std::vector<std::string>& lines,
                                       const std::string& file) const {
    std::vector<data::Conversation> conversations;
    size_t number = 0, dropped = 0;
    for (const std::string& line : lines) {
      data::Conversation one = conversation(line, fmt::format("{}, line {}", file, ++number));
      if (std::ssize(one.tokens) - 1 <= longest_)
        conversations.push_back(std::move(one));
      else
        ++dropped;
    }
    if (dropped > 0)
      observer_.log(
          fmt::format("{}: {} of {} conversations have more than {} tokens and are left out", file,
                      dropped, number, longest_));
    return conversations;
  }

 private:
  data::Conversation conversation(const std::string& line, const std::string& where) const {
    const nlohmann::ordered_json json = parse_ordered_json(line, where);
    ChatOptions options;
    if (json.is_object() && json.contains("tools")) options.tools = dump_json(json["tools"]);
    const std::vector<ChatMessage> messages = chat::read_messages(json, where);
    chat::ChatTemplate::Turns turns;
    try {
      turns = templates_.choose(!options.tools.empty()).turns(messages, options);
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

  const chat::ChatTemplates& templates_;
  int64_t longest_;
  Observer& observer_;
};

std::vector<std::string> lines_of(const std::string& file) {
  return file.empty() ? std::vector<std::string>()
                      : data::read_documents(file, data::DocumentEnd::line);
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
  const std::vector<std::string> training = lines_of(config.data.text),
                                 validation = lines_of(config.data.valid_text);
  fingerprint_ = {data::fingerprint_of(training), data::fingerprint_of(validation)};
  const chat::ChatTemplates templates(start, named_.tokenizer);
  const Reader reader(templates, config.window_tokens(), observer);
  auto train = reader.read(training, config.data.text);
  auto valid = validation.empty()
                   ? hold_out(train, config.data.held_out, config.run.seed, "conversation")
                   : reader.read(validation, config.data.valid_text);
  require(!train.empty() && !valid.empty(), "{}: no conversation fits into {} tokens",
          train.empty() ? config.data.text : config.data.valid_text, config.window_tokens());
  observer.log(
      fmt::format("{} conversations for training, {} for validation", train.size(), valid.size()));
  const auto samples = std::min<int64_t>(config.validation.samples, std::ssize(valid));
  samples_.assign(valid.begin(), valid.begin() + samples);
  train_ = std::make_unique<data::ConversationDataset>(std::move(train));
  valid_ = std::make_unique<data::ConversationDataset>(std::move(valid));
}

void ChatTask::evaluate(const model::Transformer& model, Compute compute,
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
  add_continuations(model, named_.tokenizer, compute, seed_, prompts, record);
}

}  // namespace heed::train

// Training on conversations.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/data/conversation_dataset.h"
#include "heed/train/checkpoints/initial_weights.h"
#include "tests/train/language_run.h"

namespace heed::train {
namespace {

using testing::stop_after;
using testing::train;

TEST(ConversationDataset, PredictsWhatAssistantsWrote) {
  const data::ConversationDataset dataset(
      {{{1, 5, 6, 7, 2}, {false, false, true, false, true}}, {{1, 8, 9}, {true, false, true}}});
  const std::vector<int64_t> all{0, 1};
  const data::Batch batch = dataset.batch(all, 0);
  EXPECT_EQ(batch.decoder_input, (std::vector<int32_t>{1, 5, 6, 7, 1, 8}));
  EXPECT_EQ(batch.target_offsets, (std::vector<int32_t>{0, 4, 6}));
  EXPECT_EQ(batch.target, (std::vector<int32_t>{6, 2, 9}));
  EXPECT_EQ(batch.rows, (std::vector<int32_t>{1, 3, 5}));
  EXPECT_EQ(dataset.lengths()[0].target, 4);
}

/// Trains a base with a chat template, and returns the configuration of a run on conversations in
/// which the assistant says where the sea is.
TrainConfig chat_config(const TemporaryDirectory& folder) {
  testing::write_book(folder);
  TrainConfig config = testing::causal_config(folder);
  config.run.max_steps = 4;
  train(config, folder, "base");
  write_quickly(folder / "base" / "chat_template.jinja",
                "{% for m in messages %}{{ m.role ~ ':' ~ m.content ~ eos_token }}{% endfor %}"
                "{% if add_generation_prompt %}assistant:{% endif %}");
  std::ofstream file(folder / "chats");
  for (int i = 0; i < 30; ++i)
    file << nlohmann::json::array({{{"role", "user"}, {"content", fmt::format("man {}", i)}},
                                   {{"role", "assistant"}, {"content", "the sea"}}})
         << '\n';
  config.run.task = TaskKind::chat;
  config.run.context = 40;
  config.data.text = (folder / "chats").string();
  config.from = (folder / "base").string();
  read_initial_config(config);
  config.run.max_steps = 12;
  config.optimizer.learning_rate = 5e-3;
  config.optimizer.warmup_steps = 1;
  config.validation.eval_steps = 6;
  return config;
}

TEST(Chat, IsLearnedAndResumedToTheSameBitsAndKeepsTheTemplate) {
  const TemporaryDirectory folder;
  const TrainConfig config = chat_config(folder);
  const auto task = testing::task_of(config, config.from);
  Observer silent;
  Trainer trainer(config, *task, RunDirectory::begin(folder / "whole"), silent, {});
  trainer.run();
  EXPECT_LT(trainer.history().validations.back().loss, trainer.history().steps.front().loss * 0.75);
  for (const char* part : {"", "last"})
    EXPECT_EQ(read_file(folder / "whole" / part / "chat_template.jinja"),
              read_file(folder / "base" / "chat_template.jinja"));
  train(config, folder, "parts", {.stop_requested = stop_after(5)});
  train(config, folder, "parts", {.resume = true});
  EXPECT_EQ(read_file(folder / "whole" / "model.safetensors"),
            read_file(folder / "parts" / "model.safetensors"));
}

TEST(Chat, IsLearnedByAnAdapter) {
  const TemporaryDirectory folder;
  TrainConfig config = chat_config(folder);
  config.lora = {.enabled = true, .rank = 4};
  const auto task = testing::task_of(config, config.from);
  Observer silent;
  Trainer trainer(config, *task, RunDirectory::begin(folder / "run"), silent, {});
  trainer.run();
  EXPECT_LT(trainer.history().validations.back().loss, trainer.history().steps.front().loss);
}

TEST(Chat, RefusesTextsThatAreNoConversations) {
  const TemporaryDirectory folder;
  TrainConfig config = chat_config(folder);
  const auto refused = [&](const std::string& line, const char* message) {
    write_quickly(folder / "chats", line + '\n' + line + '\n');
    expect_error([&] { testing::task_of(config, config.from); }, message);
  };
  refused("{", "chats, line 1: is not JSON");
  refused("[]", "chats, line 1: there are no messages");
  refused(R"([{"role": "user", "content": "a"}])",
          "chats, line 1: an assistant wrote nothing in this conversation");
  refused(R"([{"role": "assistant", "content": "a"}])",
          "chats, line 1: messages[0] is an assistant's, which no prompt precedes");
  std::filesystem::remove(folder / "base" / "chat_template.jinja");
  refused("[]", "base has no chat template");
  config.from.clear();
  expect_error([&] { config.validate(); }, "the task chat needs a model with a chat template");
}

}  // namespace
}  // namespace heed::train

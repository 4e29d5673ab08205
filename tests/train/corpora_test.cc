// Training on several corpora, in several languages.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "heed/text/translation_tokenizer.h"
#include "tests/train/tiny_run.h"

namespace heed::train {
namespace {

class Corpora : public ::testing::Test {
 protected:
  /// The corpus of tiny runs, and the first `lines` of it in the other direction.
  void SetUp() override {
    testing::write_text(folder_);
    const auto head = [&](const char* name, int lines) {
      std::ifstream in(folder_ / name);
      std::ofstream out(folder_ / (std::string("few.") + name));
      std::string line;
      for (int i = 0; i < lines && std::getline(in, line); ++i) out << line << '\n';
    };
    head("source", 40);
    head("target", 40);
    config_ = testing::tiny_config(folder_);
    config_.data.corpora = {{.source = config_.data.source,
                             .target = config_.data.target,
                             .source_language = "en",
                             .target_language = "es",
                             .weight = 1},
                            {.source = (folder_ / "few.target").string(),
                             .target = (folder_ / "few.source").string(),
                             .source_language = "es",
                             .target_language = "en",
                             .weight = 2}};
    config_.data.source.clear();
    config_.data.target.clear();
    config_.data.languages = LanguageTags::target;
  }

  std::string weights_of(const std::string& run) const {
    return read_file(folder_ / run / "model.safetensors") +
           read_file(folder_ / run / "last/model.safetensors");
  }

  TemporaryDirectory folder_;
  TrainConfig config_;
};

/// The first tokens of the sources of an epoch, and how often each comes up.
std::map<std::string, int64_t> first_pieces(const Task& task, int64_t epoch) {
  std::map<std::string, int64_t> pieces;
  const data::Dataset& train = task.train();
  for (int64_t place = 0; place < train.count(); ++place) {
    const int64_t index = train.example_of_epoch(epoch, place);
    ++pieces[task.piece(train.batch({&index, 1}, epoch).source.front())];
  }
  return pieces;
}

TEST_F(Corpora, AreDrawnByTheirWeightsWithTheTokensOfTheirLanguages) {
  const auto task = testing::task_of(config_);
  EXPECT_EQ(task->train().count(), 220);
  EXPECT_EQ(first_pieces(*task, 0),
            (std::map<std::string, int64_t>{{">>en<<", 147}, {">>es<<", 73}}));
  config_.data.languages = LanguageTags::both;
  const auto both = testing::task_of(config_);
  const int64_t first = 0;
  const data::Batch batch = both->train().batch({&first, 1}, 0);
  EXPECT_EQ(both->piece(batch.source[0]), ">>es<<");
  EXPECT_EQ(both->piece(batch.source[1]), "<<en>>");
  EXPECT_EQ(both->model().vocab_size, task->model().vocab_size + 2);
}

TEST_F(Corpora, AreDrawnByTheirSizesToAPower) {
  for (data::Corpus& corpus : config_.data.corpora) corpus.weight = 0;
  EXPECT_EQ(first_pieces(*testing::task_of(config_), 3)[">>en<<"], 38);  // 2 of 40 are held out
  config_.data.temperature = 1e9;
  EXPECT_EQ(first_pieces(*testing::task_of(config_), 3)[">>en<<"], 110);
}

TEST_F(Corpora, TrainTheSameBitsWhenResumed) {
  testing::train(config_, folder_, "whole");
  testing::train(config_, folder_, "parts", {.stop_requested = testing::stop_after(9)});
  testing::train(config_, folder_, "parts",
                 {.resume = true, .stop_requested = testing::stop_after(7)});
  testing::train(config_, folder_, "parts", {.resume = true});
  EXPECT_EQ(weights_of("whole"), weights_of("parts"));
  TrainConfig other = config_;
  other.data.corpora[1].weight = 3;
  testing::train(other, folder_, "others");
  EXPECT_NE(weights_of("whole"), weights_of("others"));
  expect_error([&] { require_same_run(config_, other, "config.toml"); }, "data.corpora is [");
}

TEST_F(Corpora, AreScoredOneByOne) {
  std::vector<std::string> lines, directions;
  testing::train(
      config_, folder_, "run",
      {.after_validation =
           [&](const Trainer& trainer) {
             for (const DirectionScores& one : trainer.history().validations.back().directions)
               directions.push_back(one.languages);
           },
       .lines = &lines});
  EXPECT_EQ(directions,
            (std::vector<std::string>{"en-es", "es-en", "en-es", "es-en", "en-es", "es-en"}));
  EXPECT_GE(std::ranges::count_if(
                lines, [](const auto& line) { return line.find(", es-en ") != line.npos; }),
            3);
}

TEST_F(Corpora, SingleOnesNeedNoList) {
  TrainConfig single = testing::tiny_config(folder_);
  testing::train(single, folder_, "single");
  TrainConfig list = single;
  list.data.corpora = training_corpora(single.data);
  list.data.source.clear();
  list.data.target.clear();
  testing::train(list, folder_, "list");
  EXPECT_EQ(weights_of("single"), weights_of("list"));
}

/// What is in filtered.json of a run.
nlohmann::json filtered_of(const TemporaryDirectory& folder, const std::string& run) {
  return nlohmann::json::parse(read_file(folder / run / "filtered.json"));
}

TEST_F(Corpora, LeaveOutWhatTheFiltersDropAndSayWhy) {
  std::ofstream(folder_ / "source", std::ios::app) << "one two\none two\nsame\nsun sea\n";
  std::ofstream(folder_ / "target", std::ios::app) << "dos uno\ndos uno\nsame\nmar sÃ³l\n";
  config_.data.text_limits = {.drop_copied = true, .drop_duplicates = true, .drop_mojibake = true};
  config_.data.drop_least_aligned = 0.1;
  std::vector<std::string> lines;
  testing::train(config_, folder_, "run", {.lines = &lines});
  const nlohmann::json corpora = filtered_of(folder_, "run")["corpora"];
  ASSERT_EQ(corpora.size(), 2u);
  const nlohmann::json& dropped = corpora[0]["dropped"];
  EXPECT_EQ(corpora[0]["source"], (folder_ / "source").string());
  EXPECT_EQ(dropped["copied"]["count"], 1);
  EXPECT_EQ(dropped["copied"]["examples"][0]["line"], 203);
  EXPECT_EQ(dropped["in a wrong encoding"]["examples"][0]["target"], "mar sÃ³l");
  EXPECT_GE(dropped["duplicate"]["count"], 1);
  EXPECT_GE(dropped["badly aligned"]["count"], 10);
  int64_t sum = corpora[0]["kept"];
  for (const auto& [reason, one] : dropped.items()) sum += one["count"].get<int64_t>();
  EXPECT_EQ(sum, corpora[0]["pairs"]);
  EXPECT_EQ(testing::task_of(config_)->train().count(),
            corpora[0]["kept"].get<int64_t>() + corpora[1]["kept"].get<int64_t>());
  testing::train(config_, folder_, "parts", {.stop_requested = testing::stop_after(9)});
  testing::train(config_, folder_, "parts", {.resume = true});
  EXPECT_EQ(weights_of("run"), weights_of("parts"));
}

TEST_F(Corpora, LeaveOutTheWorstAligned) {
  TrainConfig config = testing::tiny_config(folder_);
  std::ofstream(folder_ / "source", std::ios::app) << "one two red\nsun sea bread\n";
  std::ofstream(folder_ / "target", std::ios::app) << "hombre mar luz\nhombre uno luz\n";
  config.data.drop_least_aligned = 0.012;
  testing::train(config, folder_, "run");
  const nlohmann::json dropped =
      filtered_of(folder_, "run")["corpora"][0]["dropped"]["badly aligned"];
  EXPECT_EQ(dropped["count"], 2);
  EXPECT_EQ(dropped["examples"][0]["line"], 201);
  EXPECT_EQ(dropped["examples"][1]["line"], 202);
}

TEST_F(Corpora, AreReadBackAsWritten) {
  config_.data.corpora[0].source = "a \"quoted\" \\ name";
  config_.data.corpora[0].weight = 0.1;
  config_.data.valid_corpora = {{.tsv = "pairs.tsv"}};
  TrainConfig read;
  read_toml(read, write_toml(config_), "config.toml");
  EXPECT_EQ(read.data.corpora, config_.data.corpora);
  EXPECT_EQ(read.data.valid_corpora, config_.data.valid_corpora);
  TrainConfig tables;
  read_toml(tables,
            "[data]\n[[data.corpora]]\nsource = \"a\"\ntarget = \"b\"\n[[data.corpora]]\ntsv = "
            "\"c\"\nweight = 2\n",
            "config.toml");
  ASSERT_EQ(tables.data.corpora.size(), 2u);
  EXPECT_EQ(tables.data.corpora[1].weight, 2);
  expect_error([&] { set_field(tables, "data.corpora=[{sorce = \"a\"}]"); }, "no key sorce");
  expect_error([&] { set_field(tables, "data.corpora=[{weight = -1}]"); }, "weight is -1");
  expect_error([&] { set_field(tables, "data.corpora=[{tsv = 3}]"); }, "tsv is 3");
  expect_error([&] { set_field(tables, "data.corpora=[3]"); }, "holds 3");
  expect_error([&] { set_field(tables, "data.corpora=words"); }, "expected a list of tables");
}

TEST_F(Corpora, AreRefusedWhenTheyContradictThemselves) {
  const auto refused = [&](const auto& change, const std::string& reason) {
    TrainConfig config = config_;
    change(config.data);
    expect_error([&] { config.validate(); }, reason);
  };
  refused([](DataConfig& data) { data.corpora[0].weight = 0; }, "1 of the 2 corpora");
  refused([](DataConfig& data) { data.temperature = 2; }, "expected one of them");
  refused([](DataConfig& data) { data.temperature = 0; }, "data.temperature is 0");
  refused([](DataConfig& data) { data.tsv = "x"; }, "data.corpora and data.tsv are both given");
  refused([](DataConfig& data) { data.corpora[0].tsv = "x"; }, "tsv and source or target");
  refused([](DataConfig& data) { data.corpora[0].target = ""; }, "has no target");
  refused([](DataConfig& data) { data.valid_corpora = {data.corpora[0]}; }, "has a weight");
  refused([](DataConfig& data) { data.corpora[0].target_language = "a b"; }, "without spaces");
  refused([](DataConfig& data) { data.drop_least_aligned = 1; }, "below 1");
  refused(
      [](DataConfig& data) {
        data.text_limits.min_language_probability = 0.5;
        data.corpora[0].target_language = "tlh";
      },
      "heed cannot tell the language \"tlh\"");
  refused(
      [](DataConfig& data) {
        data.corpora[0].target_language = "";
        data.corpora[0].target = "text";
      },
      "the target language is not given");
}

}  // namespace
}  // namespace heed::train

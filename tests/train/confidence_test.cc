// Training calibrates the confidence of the translator that it keeps.
#include <gtest/gtest.h>

#include <array>

#include "heed/generate/confidence/fit_calibration.h"
#include "tests/distribute/group_ranks.h"
#include "tests/train/tiny_run.h"

namespace heed::train {
namespace {

TrainConfig config_with(const TemporaryDirectory& folder, int64_t sentences) {
  testing::write_text(folder, 2000);
  TrainConfig config = testing::tiny_config(folder);
  config.data.held_out = 150;
  config.validation.sentences = sentences;
  config.run.average = 0;
  config.run.token_budget = 256;
  config.distributed.leaves = 8;
  return config;
}

TEST(TrainedConfidence, IsCalibratedOnTheValidationText) {
  const TemporaryDirectory folder;
  testing::train(config_with(folder, 150), folder, "out");
  const auto calibrations = generate::read_calibrations(folder / "out");
  ASSERT_EQ(calibrations.size(), 1u);
  EXPECT_EQ(calibrations[0].languages, generate::CalibratedLanguages());
  EXPECT_EQ(calibrations[0].sentences, 150);
  EXPECT_GE(calibrations[0].words, generate::kLeastCalibrationWords);
}

TEST(TrainedConfidence, IsLeftOutWithoutEnoughWords) {
  const TemporaryDirectory folder;
  testing::train(config_with(folder, 1), folder, "out");
  EXPECT_TRUE(generate::read_calibrations(folder / "out").empty());
  // What an earlier validation has written does not stay.
  EXPECT_TRUE(path_exists(folder / "out" / generate::kConfidenceFile));
}

TEST(TrainedConfidence, OfSeveralLanguagesIsThatOfAllTheirTranslations) {
  const TemporaryDirectory folder;
  TrainConfig config = config_with(folder, 150);
  config.data.corpora = {{.source = config.data.source,
                          .target = config.data.target,
                          .source_language = "en",
                          .target_language = "es"},
                         {.source = config.data.target,
                          .target = config.data.source,
                          .source_language = "es",
                          .target_language = "en"}};
  config.data.source.clear();
  config.data.target.clear();
  config.data.languages = LanguageTags::both;
  testing::train(config, folder, "out");
  const auto calibrations = generate::read_calibrations(folder / "out");
  ASSERT_EQ(calibrations.size(), 1u);
  EXPECT_EQ(calibrations[0].sentences, 150);
  EXPECT_NE(generate::find_calibration(calibrations, {.source = "es", .target = "en"}), nullptr);
}

TEST(TrainedConfidence, IsTheSameOnSeveralRanks) {
  const TemporaryDirectory folder;
  const TrainConfig config = config_with(folder, 150);
  for (const int ranks : {1, 2}) {
    const std::string out = std::to_string(ranks);
    distribute::run_groups(
        std::make_shared<distribute::LocalMailbox>(ranks), [&](distribute::Group& group) {
          std::optional<RunDirectory> run;
          if (group.is_root()) run = RunDirectory::begin(folder / out);
          group.all_gather(std::array{0.0});
          if (!run) run = RunDirectory::join(folder / out, false);
          const auto task = testing::task_of(config, vocabulary_source(config, *run));
          Observer silent;
          const std::shared_ptr<distribute::Group> shared(std::shared_ptr<void>(), &group);
          Trainer(config, *task, *run, silent,
                  {.stop_requested = [] { return false; }, .group = shared})
              .run();
        });
  }
  EXPECT_EQ(read_file(folder / "1" / generate::kConfidenceFile),
            read_file(folder / "2" / generate::kConfidenceFile));
}

}  // namespace
}  // namespace heed::train

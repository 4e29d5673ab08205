#include "heed/comet.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "tests/base/testing.h"

namespace heed {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

fs::path comet_golden() { return fs::path(HEED_SOURCE_DIR) / "tests/golden/comet"; }

/// A golden model with its encoder's files beside it.
fs::path comet_model(const TemporaryDirectory& directory, const std::string& name) {
  const fs::path path = directory.path() / name;
  fs::copy(comet_golden() / name, path, fs::copy_options::recursive);
  for (const fs::directory_entry& file : fs::directory_iterator(comet_golden() / "encoder"))
    fs::copy(file.path(), path);
  return path;
}

void expect_scores(const std::vector<double>& scores, const Json& expected) {
  ASSERT_EQ(scores.size(), expected.size());
  for (size_t i = 0; i < scores.size(); ++i) EXPECT_NEAR(scores[i], expected[i], 5e-5) << i;
}

TEST(Comet, ScoresEqualThoseOfUnbabelComet) {
  const TemporaryDirectory directory;
  const Json golden = Json::parse(read_file(comet_golden() / "expected.json"));
  std::vector<CometSegment> segments;
  for (const Json& texts : golden["segments"]) segments.push_back({texts[0], texts[1], texts[2]});
  for (const auto& [name, expected] : golden["models"].items()) {
    SCOPED_TRACE(name);
    const CometModel model = CometModel::load(comet_model(directory, name));
    EXPECT_EQ(model.needs_reference(), !expected.contains("without"));
    expect_scores(model.score(segments), expected["with_references"]);
    if (expected.contains("without"))
      expect_scores(model.score(segments, false), expected["without"]);
  }
}

std::string comet_error(const fs::path& path) {
  try {
    CometModel::load(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Comet, RefusesSettingsThatItDoesNotApply) {
  const TemporaryDirectory directory;
  const fs::path path = comet_model(directory, "regression");
  const std::string file = (path / "hparams.yaml").string();
  const std::string original = read_file(file);
  const auto with = [&](const std::string& line) {
    const std::string key = line.substr(0, line.find(':') + 1);
    const size_t at = original.find(key);
    std::string text = original;
    if (at == text.npos)
      text += line + '\n';
    else
      text.replace(at, text.find('\n', at) - at, line);
    std::ofstream(file) << text;
    return comet_error(path);
  };
  EXPECT_EQ(with("class_identifier: ranking_metric"),
            file +
                ": class_identifier is \"ranking_metric\", which heed does not apply; it does "
                "regression_metric, referenceless_regression_metric, unified_metric");
  EXPECT_NE(with("encoder_model: BERT").find("encoder_model is \"BERT\""), std::string::npos);
  EXPECT_NE(with("pool: sum").find("pool is \"sum\""), std::string::npos);
  EXPECT_NE(with("activations: ReLU").find("activations is \"ReLU\""), std::string::npos);
  EXPECT_EQ(with("new_setting: 1"), file + ": \"new_setting\" is no setting that heed knows");
  EXPECT_NE(with("layer: 3").find("the layer to pool is 3, expected 0 to 2"), std::string::npos);
  EXPECT_NE(with("pool: !!python/object:os.system x").find("cannot read"), std::string::npos);
  fs::remove(file);
  EXPECT_EQ(comet_error(path),
            path.string() + " is no directory of a COMET model: it has no hparams.yaml");
}

}  // namespace
}  // namespace heed

// Models in Marian's own files. pymarian made them and what it translates with them:
// tests/golden/marian/make.py.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "heed/base/file.h"
#include "heed/convert.h"
#include "heed/io/npz_file.h"
#include "tests/engine/small_models.h"

namespace heed::engine {
namespace {

std::filesystem::path marian(const std::string& name) {
  return std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden/marian" / name;
}

/// Of a directory: its translations and how probable pymarian says they are.
void expect_translations(const Model& model, const std::string& name) {
  const nlohmann::json expected = nlohmann::json::parse(read_file(marian(name) / "expected.json"));
  const auto lines = expected["lines"].get<std::vector<std::string>>();
  for (const int beams : {1, 4}) {
    TranslateOptions options;
    options.search = {.num_beams = beams, .length_penalty = 0, .scores = true};
    const auto found = model.translate_batch(lines, options);
    const nlohmann::json& wanted = expected["beam_" + std::to_string(beams)];
    for (size_t i = 0; i < lines.size(); ++i) {
      EXPECT_EQ(found[i].text(), wanted[i]["text"].get<std::string>()) << name << ' ' << beams;
      EXPECT_NEAR(found[i].candidates.front().hypothesis.log_probability,
                  wanted[i]["log_probability"].get<double>(), 1e-3)
          << name << ' ' << beams;
    }
  }
}

TEST(MarianFiles, TranslateAsMarianDoes) {
  expect_translations(Model::load(marian("post")), "post");
}

/// Of the first token: Marian's decoder has no norm of the tokens before later ones.
TEST(MarianFiles, ThatArePreNormStartAsMarianDoes) {
  const Model model = Model::load(marian("pre"));
  ASSERT_EQ(model.warnings().size(), 1u);
  EXPECT_NE(model.warnings().front().find("translations may differ"), std::string::npos);
  const nlohmann::json expected = nlohmann::json::parse(read_file(marian("pre") / "expected.json"));
  for (size_t i = 0; i < expected["lines"].size(); ++i) {
    const Translation found =
        model.translate(expected["lines"][i].get<std::string>(),
                        {.search = {.num_beams = 1, .length_penalty = 0, .scores = true}});
    const Hypothesis& best = found.candidates.front().hypothesis;
    EXPECT_NEAR(best.token_log_probabilities.front(),
                expected["beam_1"][i]["first_token"].get<double>(), 1e-4);
  }
}

TEST(MarianFiles, HaveVocabulariesInYamlToo) {
  const TemporaryDirectory folder;
  std::filesystem::copy_file(marian("post") / "model.npz", folder / "model.npz");
  std::filesystem::copy_file(marian("post") / "vocab.spm", folder / "source.spm");
  std::filesystem::copy_file(marian("post") / "vocab.spm", folder / "target.spm");
  const auto pieces = text::SentencePiece::load(folder / "source.spm");
  std::string yaml;
  for (int32_t id = 0; id < pieces.vocab_size(); ++id)
    yaml += fmt::format("\"{}\": {}\n", pieces.piece(id), id);
  write_quickly(folder / "opus.vocab.yml", yaml);
  expect_translations(Model::load(folder.path()), "post");
  write_quickly(folder / "opus.vocab.yml", yaml + "more: 5\n");
  EXPECT_THROW(Model::load(folder.path()), Error);
  std::filesystem::remove(folder / "opus.vocab.yml");
  try {
    Model::load(folder.path());
    ADD_FAILURE() << "expected an error";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("no vocabulary beside it"), std::string::npos);
  }
}

TEST(MarianFiles, AreConvertedToThoseOfTransformers) {
  for (const std::string name : {"post", "pre"}) {
    const TemporaryDirectory folder;
    const std::vector<std::string> warnings = convert_model(marian(name), folder / "out");
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_NE(warnings.front().find("frequencies"), std::string::npos);
    const Model model = Model::load(folder / "out"), native = Model::load(marian(name));
    EXPECT_EQ(model.family(), name == "pre" ? "pegasus" : "marian");
    EXPECT_EQ(model.vocab_size(), native.vocab_size());
    EXPECT_EQ(model.source_tokens("the old sea"), native.source_tokens("the old sea"));
    EXPECT_EQ(model.translate("").text(), "");
    const auto stored = io::SafetensorsFile::open(folder / "out/model.safetensors");
    const auto arrays = io::NpzFile::open(marian(name) / "model.npz");
    const Tensor weight = stored->get("model.encoder.layers.1.fc1.weight");
    const Tensor array = arrays->get("encoder_l2_ffn_W1");
    ASSERT_EQ(weight.rows(), array.cols());
    for (int64_t row = 0; row < weight.rows(); ++row)
      for (int64_t col = 0; col < weight.cols(); ++col)
        ASSERT_EQ(weight.data<float>()[row * weight.cols() + col],
                  array.data<float>()[col * array.cols() + row]);
  }
}

TEST(MarianFiles, OfOtherKindsAreRefusedByTheSetting) {
  const std::string original = read_file(marian("post") / "model.npz");
  const auto with = [&](const std::string& from, const std::string& to) -> std::string {
    const TemporaryDirectory folder;
    std::filesystem::copy_file(marian("post") / "vocab.spm", folder / "vocab.spm");
    std::string changed = original;
    const size_t at = changed.find(from);
    EXPECT_NE(at, changed.npos) << from;
    EXPECT_EQ(from.size(), to.size());
    changed.replace(at, from.size(), to);
    write_quickly(folder / "model.npz", changed);
    try {
      Model::load(folder.path());
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_NE(with("transformer-decoder-autoreg: self-attention",
                 "transformer-decoder-autoreg: rnn           ")
                .find("transformer-decoder-autoreg is \"rnn\", which heed does not apply"),
            std::string::npos);
  EXPECT_NE(
      with("ffn-activation: swish", "ffn-activation: gelu ").find("\"gelu\", which heed does not"),
      std::string::npos);
  EXPECT_NE(with("postprocess: dan", "postprocess: dah").find("\"ah\", which heed does not"),
            std::string::npos);
  EXPECT_NE(with("ulr-dim-emb: 0", "new-setting: 1").find("\"new-setting\" is no setting"),
            std::string::npos);
  EXPECT_NE(with("dim-emb: 16", "dim-emb: 18"), "no error");
  EXPECT_NE(
      with("transformer-preprocess: \"\"", "transformer-preprocess: n ").find("postprocess is"),
      std::string::npos);
  EXPECT_NE(with("enc-depth: 2", "enc-depth: 1").find("is none of a Transformer's"),
            std::string::npos);
}

}  // namespace
}  // namespace heed::engine

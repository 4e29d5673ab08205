#include "tests/capi/areas.h"

#include <gtest/gtest.h>

#include "tests/engine/layered_folder.h"
#include "tests/engine/small_models.h"

namespace heed::capi {
namespace {

/// The directories that the tests in C read and write.
class CApi : public testing::Test {
 protected:
  CApi() {
    const std::filesystem::path golden = std::filesystem::path(HEED_SOURCE_DIR) / "tests/golden";
    engine::write_decoder(folder_ / "chat");
    write_quickly(folder_ / "chat" / "chat_template.jinja",
                  "{% for m in messages %}{{ m.role ~ ': ' ~ m.content }}{% endfor %}");
    const engine::SmallModels& models = engine::models();
    for (const auto& [path, directory] : {std::pair{&paths_.decoder, models.decoder()},
                                          {&paths_.encoder, models.encoder()},
                                          {&paths_.masked, models.masked()},
                                          {&paths_.translator, models.translator()},
                                          {&paths_.chat, folder_ / "chat"},
                                          {&paths_.classify, golden / "encoders/classify"},
                                          {&paths_.ner, golden / "encoders/ner"},
                                          {&paths_.rerank, golden / "encoders/rerank"},
                                          {&paths_.colbert, colbert_.path()},
                                          {&paths_.tokenizers, golden / "tokenizers"},
                                          {&paths_.out, folder_.path()}})
      *path = texts_.emplace_back(std::make_unique<std::string>(directory.string()))->c_str();
  }

  TemporaryDirectory folder_;
  LayeredFolder colbert_{"encoders/embed-bert", "multi_vector/colbert"};
  std::vector<std::unique_ptr<std::string>> texts_;
  test_paths paths_{};
};

TEST_F(CApi, LoadsModelsAndKnowsTheirFactsAndTokens) { EXPECT_EQ(test_model(&paths_), 0); }
TEST_F(CApi, GeneratesBatchesAndStreams) { EXPECT_EQ(test_generate(&paths_), 0); }
TEST_F(CApi, SearchesAndTranslates) { EXPECT_EQ(test_search(&paths_), 0); }
TEST_F(CApi, TranslatesDocuments) { EXPECT_EQ(test_document(&paths_), 0); }
TEST_F(CApi, Chats) { EXPECT_EQ(test_chat(&paths_), 0); }
TEST_F(CApi, EmbedsScoresFillsAndShowsAttention) { EXPECT_EQ(test_read(&paths_), 0); }
TEST_F(CApi, LabelsTextsPairsAndTokensAndRanksDocuments) { EXPECT_EQ(test_labels(&paths_), 0); }
TEST_F(CApi, DecodesManyRequestsInASession) { EXPECT_EQ(test_session(&paths_), 0); }
TEST_F(CApi, ServesModels) { EXPECT_EQ(test_serve(&paths_), 0); }
TEST_F(CApi, KnowsTheTokensOfATokenizer) { EXPECT_EQ(test_tokenizer(&paths_), 0); }
TEST_F(CApi, EncodesTextsAndPairsWithOffsets) { EXPECT_EQ(test_encode(&paths_), 0); }
TEST_F(CApi, DecodesIdsAtOnceAndOneByOne) { EXPECT_EQ(test_decode(&paths_), 0); }
TEST_F(CApi, TrainsAndSavesATokenizer) { EXPECT_EQ(test_train_tokenizer(&paths_), 0); }
TEST_F(CApi, MakesPromptsOfMessages) { EXPECT_EQ(test_chat_template(&paths_), 0); }
TEST_F(CApi, QuantisesAModel) { EXPECT_EQ(test_quantize(&paths_), 0); }
TEST_F(CApi, TrainsStopsAndResumes) { EXPECT_EQ(test_train(&paths_), 0); }

}  // namespace
}  // namespace heed::capi

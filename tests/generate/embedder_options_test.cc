#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/generate/embedder.h"
#include "tests/base/testing.h"

namespace heed::generate {
namespace {

class EmbedderOptionsRead : public testing::Test {
 protected:
  EmbedderOptionsRead() {
    std::filesystem::create_directories(folder_ / "1_Pooling");
    modules(R"([{"type": "sentence_transformers.models.Transformer", "path": ""},
                {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"}])");
    pooling(R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
  }

  void modules(const std::string& json) { write_file_atomically(folder_ / "modules.json", json); }
  void pooling(const std::string& json) {
    write_file_atomically(folder_ / "1_Pooling/config.json", json);
  }
  EmbedderOptions read() const { return read_embedder_options(folder_.path()); }

  const TemporaryDirectory folder_;
};

TEST_F(EmbedderOptionsRead, FollowTheModulesOfADirectory) {
  write_file_atomically(folder_ / "sentence_bert_config.json",
                        R"({"max_seq_length": 64, "do_lower_case": true})");
  const EmbedderOptions options = read();
  EXPECT_EQ(options.pooling, Pooling::cls);
  EXPECT_FALSE(options.normalize);
  EXPECT_TRUE(options.lower_case);
  EXPECT_EQ(options.max_seq_length, 64);
}

TEST_F(EmbedderOptionsRead, AreTheDefaultsForAPlainModel) {
  std::filesystem::remove(folder_ / "modules.json");
  EXPECT_EQ(read().pooling, Pooling::mean);
  EXPECT_EQ(read().max_seq_length, 0);
}

TEST_F(EmbedderOptionsRead, RefuseUnsupportedModulesAndPoolings) {
  for (const char* json : {R"({"pooling_mode_weightedmean_tokens": true})",
                           R"({"pooling_mode_cls_token": true, "pooling_mode_max_tokens": true})",
                           R"({"pooling_mode_cls_token": 1})", "[]", "{"}) {
    pooling(json);
    EXPECT_THROW(read(), Error) << json;
  }
  for (const char* json :
       {R"([{"type": "sentence_transformers.models.Dense", "path": "2_Dense"}])",
        R"([{"type": "x.Pooling", "path": "../elsewhere"}])",
        R"([{"type": "x.Pooling", "path": "/etc"}])", R"([{"path": ""}])", "{}", "[3]"}) {
    modules(json);
    EXPECT_THROW(read(), Error) << json;
  }
}

}  // namespace
}  // namespace heed::generate

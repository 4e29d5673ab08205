#include <gtest/gtest.h>

#include "heed/chat/chat_options.h"
#include "heed/engine/engine_options.h"
#include "heed/engine/load_options.h"
#include "heed/generate/generate_options.h"
#include "heed/tasks/task_options.h"
#include "heed/text/tokenizer_options.h"

namespace heed::engine {
namespace {

template <typename Table>
int rows() {
  int count = 0;
  Table::for_each([&](const auto&) { ++count; });
  return count;
}

/// Does not compile when a struct has other fields than this: a field needs a row, unless it is a
/// struct with a table of its own or something that only programs pass.
TEST(OptionTables, HaveAllFields) {
  [[maybe_unused]] const auto& [a1, a2, a3, a4, a5, a6, a7, a8, a9, a10] = EmbedOptions();
  EXPECT_EQ(rows<tasks::EmbedOption>(), 10);
  [[maybe_unused]] const auto& [b1, b2, b3] = ClassifyOptions();
  EXPECT_EQ(rows<tasks::ClassifyOption>(), 3);
  [[maybe_unused]] const auto& [c1, c2] = ScoreOptions();
  EXPECT_EQ(rows<tasks::ScoreOption>(), 2);
  [[maybe_unused]] const auto& [d1, d2, d3, d4, d5, d6, d7] = AttentionOptions();
  EXPECT_EQ(rows<tasks::AttentionOption>(), 7);
  [[maybe_unused]] const auto& [attention, n1, n2, n3, n4] = AttentionDrawingOptions();
  EXPECT_EQ(rows<DrawingOption>(), 4);
  [[maybe_unused]] const auto& [o1, o2, o3, o4, o5, o6] = TrainTokenizerOptions();
  EXPECT_EQ(rows<text::TrainTokenizerOption>(), 6);
  [[maybe_unused]] const auto& [e1, e2, e3, e4, e5, e6, e7] = ChatOptions();
  EXPECT_EQ(rows<chat::ChatOption>(), 7);
  [[maybe_unused]] const auto& [generate, chat, f1, f2] = ConversationOptions();
  EXPECT_EQ(rows<ConversationOption>(), 2);
  [[maybe_unused]] const auto& [g1, g2, g3, g4, g5, g6, interrupted] = SessionOptions();
  EXPECT_EQ(rows<SessionOption>(), 6);
  [[maybe_unused]] const auto& [prompt, options, search, h1, h2, h3, texts, h4, h5, h6, on_start] =
      Request();
  EXPECT_EQ(rows<RequestOption>(), 6);
  [[maybe_unused]] const auto& [searches, i1, i2, i3, then, i4, i5, i6, i7, i8] =
      TranslateOptions();
  EXPECT_EQ(rows<generate::TranslateOption>(), 8);
  [[maybe_unused]] const auto& [j1, j2, j3] = SpeculationOptions();
  EXPECT_EQ(rows<SpeculationOption>(), 3);
  [[maybe_unused]] const auto& [k1, k2, k3] = AdapterOptions();
  EXPECT_EQ(rows<AdapterOption>(), 3);
  [[maybe_unused]] const auto& [l1, l2, l3, l4, weights, progress, cancelled, timeouts] =
      HubOptions();
  EXPECT_EQ(rows<HubOption>(), 4);
  [[maybe_unused]] const auto& [m1, m2, m3, m4, m5, m6, adapters, m7, m8, speculation, executor,
                                parts, hub] = LoadOptions();
  EXPECT_EQ(rows<LoadOption>(), 8);
}

}  // namespace
}  // namespace heed::engine

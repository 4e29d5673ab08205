#include "heed/kernels/embedding.h"

#include "tests/kernels/kernel_testing.h"

namespace heed::kernels {
namespace {

constexpr int64_t kVocabulary = 50;

/// Tokens with the frequencies of text: a few are common.
std::vector<int32_t> some_tokens(int64_t count, uint64_t seed) {
  std::vector<int32_t> tokens;
  const CounterRandom random(seed);
  for (int64_t n = 0; n < count; ++n) {
    const double u = random.uniform(static_cast<uint64_t>(n));
    tokens.push_back(static_cast<int32_t>(u * u * u * kVocabulary));
  }
  return tokens;
}

TEST(Embedding, CpuAgreesWithReferenceOnEveryTarget) {
  on_every_target([](const std::string& target) {
    for (const int64_t cols : kOddSizes)
      for (const DType dtype : kFloating) {
        const int64_t rows = 150;
        const auto tokens = some_tokens(rows, 50), positions = some_tokens(rows, 51);
        const Tensor table = normals({kVocabulary, cols}, 52, dtype);
        const Tensor position_table = normals({kVocabulary, cols}, 53), absent;
        Tensor fast = Tensor::empty({rows, cols}, dtype), plain = fast.clone();
        for (const Tensor* position : {&position_table, &absent}) {
          const EmbeddingForward in{tokens, positions, table, *position, 3.5f};
          cpu::embedding_forward(in, fast);
          reference::embedding_forward(in, plain);
          expect_close(fast, plain, target + " forward");
        }
        const Tensor dy = normals({rows, cols}, 54, dtype);
        Tensor d_fast = normals({kVocabulary, cols}, 55), d_plain = d_fast.clone();
        cpu::embedding_backward(tokens, dy, 3.5f, d_fast);
        reference::embedding_backward(tokens, dy, 3.5f, d_plain);
        expect_close(d_fast, d_plain, target + " backward", 30.0);
      }
  });
}

TEST(Embedding, ARepeatedTokenSumsAllItsRows) {
  const std::vector<int32_t> tokens(5000, 3);
  Tensor d_table = Tensor::zeros({kVocabulary, 17});
  cpu::embedding_backward(tokens, Tensor::full({5000, 17}, 1.0f), 2.0f, d_table);
  for (int64_t token = 0; token < kVocabulary; ++token)
    for (int64_t c = 0; c < 17; ++c)
      EXPECT_EQ(d_table.data<float>()[token * 17 + c], token == 3 ? 10000.0f : 0.0f);
}

TEST(Embedding, AcceptsNoTokens) {
  Tensor d_table = Tensor::zeros({kVocabulary, 4});
  cpu::embedding_backward({}, Tensor::empty({0, 4}), 1.0f, d_table);
  EXPECT_EQ(d_table.data<float>()[0], 0.0f);
}

TEST(Embedding, DoesNotDependOnTheNumberOfThreads) {
  const auto tokens = some_tokens(3000, 56);
  const Tensor dy = normals({3000, 128}, 57, DType::bf16);
  expect_same_on_any_thread_count([&] {
    Tensor d_table = normals({kVocabulary, 128}, 58);
    cpu::embedding_backward(tokens, dy, 0.7f, d_table);
    return std::vector<Tensor>{d_table};
  });
}

}  // namespace
}  // namespace heed::kernels

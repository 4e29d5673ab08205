// Attention is a sum over words, and a sum does not depend on their order: without positions an
// encoder computes the same three vectors for "A defeated B" and "B defeated A". Sinusoids added to
// the embeddings distinguish the two.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "heed/model/transformer.h"

namespace {

using heed::model::PositionKind;

enum Word : int32_t { kPad, kEnd, kA, kB, kDefeated, kWords };

heed::model::Transformer random_transformer(PositionKind positions) {
  heed::model::ModelConfig config;
  config.vocab_size = kWords;
  config.d_model = 32;
  config.encoder_layers = 2;
  config.decoder_layers = 1;  // not used here
  config.n_heads = 4;
  config.d_ff = 64;
  config.positions = positions;
  return heed::model::Transformer(config, /*seed=*/1);
}

/// The encoder's output [3, D] for a sentence. Without a tape there is no dropout.
heed::Tensor encode(const heed::model::Transformer& model, const std::vector<int32_t>& sentence) {
  heed::Context context;
  return model.encode(context, {sentence, {0, static_cast<int32_t>(sentence.size())}}).states;
}

/// The largest difference between the two vectors that a word has in the two sentences.
double largest_difference(PositionKind positions) {
  const heed::model::Transformer model = random_transformer(positions);
  const heed::Tensor forth = encode(model, {kA, kDefeated, kB});
  const heed::Tensor back = encode(model, {kB, kDefeated, kA});
  double largest = 0;
  for (int64_t word = 0; word < 3; ++word)
    for (int64_t i = 0; i < forth.cols(); ++i) {
      const double first = forth.data<float>()[word * forth.cols() + i];
      const double second = back.data<float>()[(2 - word) * back.cols() + i];
      largest = std::max(largest, std::abs(first - second));
    }
  return largest;
}

void report(PositionKind positions) {
  const double difference = largest_difference(positions);
  fmt::print("positions {:<11} the vectors of each word differ by at most {:.5f}: {}\n",
             std::string(heed::model::name_of(positions)) + ":", difference,
             difference < 1e-5 ? "the order is lost" : "the order is kept");
}

}  // namespace

int main() {
  fmt::print("\"A defeated B\" and \"B defeated A\" through the same random encoder\n\n");
  report(PositionKind::none);
  report(PositionKind::sinusoidal);
}

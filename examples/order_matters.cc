// "A defeated B" and "B defeated A": without positions an encoder computes the same three vectors
// for both, in another order. Attention is a sum over words, and a sum has no order. The sinusoids
// added to the embeddings tell the two apart.
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

/// What the encoder makes of each word of the sentence: [3, D]. Without a tape nothing is dropped.
heed::Tensor encode(const heed::model::Transformer& model, const std::vector<int32_t>& sentence) {
  heed::Context context;
  return model.encode(context, {sentence, {0, static_cast<int32_t>(sentence.size())}}).states;
}

/// How far the vector of A in the one sentence is from that of A in the other, and so for the rest.
double largest_difference(PositionKind positions) {
  const heed::model::Transformer model = random_transformer(positions);
  const heed::Tensor forth = encode(model, {kA, kDefeated, kB});
  const heed::Tensor back = encode(model, {kB, kDefeated, kA});
  double largest = 0;
  for (int64_t word = 0; word < 3; ++word)
    for (int64_t i = 0; i < forth.cols(); ++i) {
      const double there = forth.data<float>()[word * forth.cols() + i];
      const double here = back.data<float>()[(2 - word) * back.cols() + i];
      largest = std::max(largest, std::abs(there - here));
    }
  return largest;
}

void report(PositionKind positions) {
  const double difference = largest_difference(positions);
  fmt::print("positions {:<11} the vectors of each word differ by at most {:.5f}: {}\n",
             std::string(heed::model::name_of(positions)) + ":", difference,
             difference < 1e-5 ? "who won cannot be told" : "the order is seen");
}

}  // namespace

int main() {
  fmt::print("\"A defeated B\" against \"B defeated A\", through the same random encoder\n\n");
  report(PositionKind::none);
  report(PositionKind::sinusoidal);
}

#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "heed/base/random.h"
#include "heed/inspect/attention/attention_capture.h"

namespace heed::inspect {

/// Builds captures like those of trained models: heads that attend to the previous or next token,
/// to the token itself, along the alignment, to the ends of the sentence, or at random.
class ExampleCapture {
 public:
  /// The weights of all heads of one layer.
  struct Layer {
    AttentionKind kind;
    int layer;
    Tensor weights;  // [H, Tq, Tk]
  };

  /// `length` pieces on the source side and about as many on the target side.
  ExampleCapture(int length, int layers, int heads) : layers_(layers), heads_(heads) {
    texts_.model_name = "an example";
    fill(texts_.source_tokens, length,
         {"▁The", "▁agree", "ment", "▁on", "▁the", "▁European", "▁Economic", "▁Area", "▁was",
          "▁signed", "▁in", "▁August", "▁1992", "."},
         "</s>");
    fill(texts_.target_tokens, length,
         {"<pad>", "▁L", "'", "accord", "▁sur", "▁la", "▁zone", "▁économique", "▁européenne", "▁a",
          "▁été", "▁signé", "▁en", "▁août", "▁1992"},
         ".");
    texts_.source_text = "The agreement on the European Economic Area was signed in August 1992.";
    texts_.target_text = "L'accord sur la zone économique européenne a été signé en août 1992.";
  }

  ExampleCapture& add(AttentionKind kind) {
    for (int layer = 0; layer < layers_; ++layer) {
      const auto queries = static_cast<int64_t>(query_tokens(texts_, kind).size());
      const auto keys = static_cast<int64_t>(key_tokens(texts_, kind).size());
      Layer map{kind, layer, Tensor::zeros({heads_, queries, keys})};
      for (int head = 0; head < heads_; ++head)
        for (int64_t q = 0; q < queries; ++q)
          fill_row(map.weights.data<float>() + (head * queries + q) * keys, map, head, q, keys);
      maps.push_back(map);
    }
    return *this;
  }

  ExampleCapture& add_all() {
    return add(AttentionKind::encoder_self)
        .add(AttentionKind::decoder_self)
        .add(AttentionKind::cross);
  }

  const AttentionTexts& texts() const { return texts_; }

  /// For a figure. Without `head`, the first head in place of the mean.
  HeadMap head(AttentionKind kind, int layer, std::optional<int> head) const {
    for (const Layer& one : maps)
      if (one.kind == kind && one.layer == layer) {
        const int64_t queries = one.weights.shape()[1], keys = one.weights.shape()[2];
        const int64_t first = head.value_or(0) * queries;
        return {{kind, layer, head},
                heads_,
                queries * keys == 0 ? Tensor::zeros({queries, keys})
                                    : one.weights.row_slice(first, first + queries)};
      }
    return {};
  }

  /// For a page.
  AttentionCapture get(int64_t budget = kPageBudget) const {
    AttentionEncoder encoder(budget);
    for (const Layer& one : maps) encoder.add({one.kind, one.layer}, one.weights);
    return {texts_, encoder.finish()};
  }

  std::vector<Layer> maps;

 private:
  static void fill(std::vector<std::string>& tokens, int length,
                   const std::vector<std::string>& words, const std::string& last) {
    for (int i = 0; i + 1 < length; ++i)
      tokens.push_back(words[static_cast<size_t>(i) % words.size()]);
    if (length > 0) tokens.push_back(last);
  }

  void fill_row(float* row, const Layer& map, int head, int64_t q, int64_t keys) {
    const CounterRandom random(7, static_cast<uint64_t>(map.layer * 64 + head));
    const uint64_t stream = static_cast<uint64_t>(static_cast<int>(map.kind) * 1000000 + q * 1000);
    const int style = (head + 3 * map.layer) % 6;
    const int64_t last = map.kind == AttentionKind::decoder_self ? q + 1 : keys;
    const int64_t aligned = map.kind == AttentionKind::cross ? std::max<int64_t>(0, q - 1) : q;
    double sum = 0;
    for (int64_t k = 0; k < last; ++k) {
      const double noise = random.normal(stream + static_cast<uint64_t>(k));
      const auto distance = static_cast<double>(std::abs(k - aligned));
      double score = (style == 5 ? 0.4 : 1.3) * noise;
      if (style == 0) score += k == aligned - 1 ? 6 : 0;
      if (style == 1) score += k == aligned + 1 ? 6 : 0;
      if (style == 2) score += 5 - distance * 1.1;
      if (style == 3) score += k + 1 == keys || k == 0 ? 6 : 0;
      if (style == 4) score += 4 * std::exp(-distance / 4);
      row[k] = static_cast<float>(std::exp(score));
      sum += row[k];
    }
    for (int64_t k = 0; k < last; ++k) row[k] = static_cast<float>(row[k] / sum);
  }

  int layers_, heads_;
  AttentionTexts texts_;
};

}  // namespace heed::inspect

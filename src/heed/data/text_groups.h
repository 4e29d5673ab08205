#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "heed/embedding.h"

namespace heed::data {

/// How the vectors of texts are compared. The formulas are those of sentence-transformers' classes,
/// named here.
enum class VectorLoss {
  none,
  infonce,  // MultipleNegativesRankingLoss (van den Oord et al. 2018): the document of each query
  cosine,   // CosineSimilarityLoss: the cosine is a score
  cosent,   // CoSENTLoss (Su 2022): pairs with higher scores have higher cosines
  triplet,  // TripletLoss (Schroff et al. 2015): the negative is farther than the positive
  margin_mse,     // MarginMSELoss (Hofstaetter et al. 2020): differences of dot products are scores
  kl_divergence,  // DistillKLDivLoss (Lin et al. 2020): a teacher's softmax over the candidates
  distill         // MSELoss (Reimers and Gurevych 2020): the vector is that of a teacher
};

/// "infonce", "cosine", "cosent", "triplet", "margin-mse", "kl-divergence" or "distill".
std::string_view name_of(VectorLoss loss);

/// What a text becomes.
enum class VectorKind {
  dense,
  sparse,       // the weights of a vocabulary (SPLADE), compared by dot products
  multi_vector  // a vector for each token (ColBERT), compared by MaxSim
};
/// "dense", "sparse" or "multi-vector".
std::string_view name_of(VectorKind kind);

/// The function of a Dense module that maps these vectors.
enum class DenseFunction { identity, tanh, relu, gelu, silu };

enum class Distance { cosine, euclidean };
/// "cosine" or "euclidean".
std::string_view name_of(Distance distance);

struct VectorLossOptions {
  VectorLoss loss = VectorLoss::none;
  VectorKind kind = VectorKind::dense;
  double scale = 20;                                // of the scores, in infonce and cosent
  double margin = 5;                                // of triplet
  Distance distance = Distance::euclidean;          // of triplet
  double temperature = 1, teacher_temperature = 1;  // divide the scores of kl_divergence
  /// Of sparse vectors: factors of the squared length of the mean vector of the step's queries, and
  /// of its documents and negatives (FLOPS: Paria et al. 2020), which are added to the loss.
  double query_flops = 0, document_flops = 0;
  std::vector<Pooling> pooling = {Pooling::mean};  // of states, one after the other; not pooler
  std::vector<DenseFunction> dense = {};  // of the modules behind the pooling, in their order
  bool normalize = false;                 // the vectors of the model have length 1
  /// Matryoshka (Kusupati et al. 2022): the sum of the losses of the first numbers of each vector,
  /// normalised, with these weights. Empty: of the whole vectors.
  std::vector<int64_t> dims = {};
  std::vector<double> dim_weights = {};
};

/// The texts of examples: of each its query, its document and its negatives, or its two texts.
struct TextGroups {
  VectorLossOptions options = {};
  std::vector<int32_t> offsets = {};  // [E+1], of each example's texts; empty: there are none
  std::vector<uint64_t> texts = {};   // [T], a hash of each: equal texts are no negatives
  /// Scores: one for each example, one for each of its negatives (margin_mse), one for its document
  /// and each negative (kl_divergence), or the vectors of a teacher [E, D].
  std::vector<float> scores = {};
  int64_t score_count = 0;             // of an example
  std::vector<int32_t> unpooled = {};  // [T], the first tokens of a text that are not pooled
  /// Of texts with several vectors: [T+1], into these, which are laid end to end; and of the texts
  /// of one batch the first tokens that are attended to [T], and the tokens of the batch that have
  /// a vector.
  std::vector<int32_t> vector_offsets = {}, attended = {}, scored = {};

  bool present() const { return !offsets.empty(); }
  /// Of all texts.
  int64_t vectors() const {
    return vector_offsets.empty() ? static_cast<int64_t>(texts.size()) : vector_offsets.back();
  }
  int64_t count() const { return present() ? static_cast<int64_t>(offsets.size()) - 1 : 0; }
  /// Adds those of another batch, with the same options.
  void append(const TextGroups& other);
};

}  // namespace heed::data

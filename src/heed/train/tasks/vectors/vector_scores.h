#pragma once

#include <cstdint>
#include <span>

#include "heed/data/text_groups.h"
#include "heed/tensor/tensor.h"
#include "heed/train/observer.h"

namespace heed::train {

/// Adds the metrics of held-out texts with the vectors [T, D], or [N, D] of their tokens, to a
/// record: nDCG, MRR and recall of each query's document among all documents and negatives, by
/// cosines, MaxSim, or dot products of sparse vectors, also how many of their numbers are not 0;
/// correlations of cosines with scores; or the mean cosine with a teacher's vectors. With
/// Matryoshka dimensions also those of shorter vectors: "ndcg@10/64".
void add_vector_scores(const Tensor& vectors, const data::TextGroups& groups,
                       ValidationRecord& record);

}  // namespace heed::train

#pragma once

#include "heed/data/dataset.h"
#include "heed/data/windows.h"

namespace heed::data {

/// Windows of documents for causal language modelling: each token is predicted from the tokens
/// before it in its window. The first input is the token before the window, or the start token at
/// the beginning of a document, so every token of every document is predicted exactly once. The
/// same in every epoch.
class CausalDataset : public Dataset {
 public:
  CausalDataset(Documents documents, std::vector<Window> windows, int32_t start_id)
      : documents_(std::move(documents)), windows_(std::move(windows)), start_id_(start_id) {}

  int64_t count() const override { return static_cast<int64_t>(windows_.size()); }
  Lengths lengths_at(int64_t index) const override;
  Batch batch(std::span<const int64_t> indices, int64_t epoch) const override;

 private:
  Documents documents_;
  std::vector<Window> windows_;
  int32_t start_id_;
};

}  // namespace heed::data

#pragma once

#include "heed/data/dataset.h"
#include "heed/data/windows.h"

namespace heed::data {

/// Windows of documents for a decoder alone, which predicts each token from those before it in its
/// window. What it reads first is the token before the window, or at a document's beginning the
/// start token: so every token of every document is predicted exactly once. The same in every
/// epoch.
class CausalDataset : public Dataset {
 public:
  CausalDataset(Documents documents, std::vector<Window> windows, int32_t start_id)
      : documents_(std::move(documents)), windows_(std::move(windows)), start_id_(start_id) {}

  int64_t count() const override { return static_cast<int64_t>(windows_.size()); }
  std::vector<Lengths> lengths() const override;
  Batch batch(std::span<const int64_t> indices, int64_t epoch) const override;

 private:
  Documents documents_;
  std::vector<Window> windows_;
  int32_t start_id_;
};

}  // namespace heed::data

#pragma once

#include <utility>

#include "heed/data/dataset.h"
#include "heed/data/example_file.h"
#include "heed/data/mixture.h"

namespace heed::data {

/// Sentence pairs of several corpora, on disk. An epoch draws as many of each corpus as the mixture
/// says.
class StoredPairs : public Dataset {
 public:
  /// The mixture is of the examples of the file, which is flushed. `start_id` is the decoder's
  /// first input token.
  StoredPairs(ExampleFile file, Mixture mixture, int32_t start_id)
      : file_(std::move(file)), mixture_(std::move(mixture)), start_id_(start_id) {}

  int64_t count() const override { return file_.count(); }
  int64_t example_of_epoch(int64_t epoch, int64_t place) const override {
    return mixture_.example(epoch, place);
  }
  Lengths lengths_at(int64_t index) const override { return file_.lengths_at(index); }
  Batch batch(std::span<const int64_t> indices, int64_t epoch) const override;

 private:
  ExampleFile file_;
  Mixture mixture_;
  int32_t start_id_;
};

}  // namespace heed::data

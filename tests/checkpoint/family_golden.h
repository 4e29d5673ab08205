#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "heed/checkpoint/model_directory.h"
#include "tests/checkpoint/golden.h"

namespace heed::checkpoint {

/// A model of tests/golden/families with the numbers that make.py there recorded for several texts.
class FamilyGolden : public ::testing::TestWithParam<const char*> {
 protected:
  const std::filesystem::path folder_ = golden_folder("families") / GetParam();
  std::unique_ptr<model::Transformer> model_ = load_model(folder_);
  std::shared_ptr<const io::SafetensorsFile> expected_ =
      io::SafetensorsFile::open(folder_ / "expected.safetensors");
  const std::vector<int32_t> ids_ = integers(expected_->get("input_ids"));  // of decoders, if any
  const std::vector<int32_t> offsets_ = integers(expected_->get("offsets"));

  size_t texts() const { return offsets_.size() - 1; }
  std::vector<int32_t> text(size_t b) const {
    return {ids_.begin() + offsets_[b], ids_.begin() + offsets_[b + 1]};
  }
};

}  // namespace heed::checkpoint

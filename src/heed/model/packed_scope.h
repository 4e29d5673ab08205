#pragma once

#include "heed/model/transformer.h"

namespace heed::model {

/// Packs the weights of a model while it lives. The model must not be packed before, and its values
/// must not change meanwhile.
class PackedScope {
 public:
  PackedScope(Transformer& model, Compute compute) : model_(model) { model_.pack(compute); }
  ~PackedScope() { model_.unpack(); }
  PackedScope(const PackedScope&) = delete;
  PackedScope& operator=(const PackedScope&) = delete;

 private:
  Transformer& model_;
};

}  // namespace heed::model

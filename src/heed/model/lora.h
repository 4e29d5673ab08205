#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "heed/model/families/family.h"
#include "heed/model/transformer.h"
#include "heed/ops/adapter.h"

namespace heed::model {

/// A linear map as a family's published files know it: one weight of a model, or several that the
/// files store as one (GPT-2's c_attn).
struct LinearModule {
  struct Part {
    const Parameter* weight;
    StoredWeight stored;
  };
  std::string name;  // "model.layers.0.self_attn.q_proj"
  std::vector<Part> parts;
  int64_t in = 0, out = 0;
  bool transposed = false;  // stored as [in, out]
};

/// Every module of a model whose weights are multiplied, in the model's order, with the names of
/// the family that the configuration names.
std::vector<LinearModule> linear_modules(const Transformer& model);

/// A LoRA adapter (Hu et al. 2021) of a model's modules: its matrices, and the updates that they
/// make. The weights of a fused module share A, as in other programs, and have rows of B each.
class LoraAdapter {
 public:
  /// With a seed, A is initialised uniformly within 1 / sqrt(in) of 0 and B with zeros (as PEFT
  /// does), so that a new adapter changes nothing; without one, matrices have only shapes.
  explicit LoraAdapter(std::optional<uint64_t> seed) : parameters_(seed) {}

  struct Module {
    LinearModule linear;
    Parameter* a;                // [r, in]
    std::vector<Parameter*> bs;  // of each part, [out, r]
    int64_t rank() const { return a->shape[0]; }
  };
  /// Adds updates of all weights of a module. Throws Error unless rank is 1 or more.
  Module& add(const LinearModule& module, int64_t rank, float scale);

  std::deque<Module>& modules() { return modules_; }
  const std::deque<Module>& modules() const { return modules_; }
  nn::Parameters& parameters() { return parameters_; }
  const nn::Parameters& parameters() const { return parameters_; }
  /// Moves the matrices to where the model computes (Transformer::device()).
  void move_to(Device* device);
  /// Packs the matrices for the passes of an adapter that is not trained.
  void pack();
  void set_dropout(float rate) { adapter_.dropout = rate; }
  const Adapter& updates() const { return adapter_; }

 private:
  nn::Parameters parameters_;
  std::deque<Module> modules_;
  Adapter adapter_;
};

}  // namespace heed::model

#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "heed/checkpoint/adapter_directory.h"
#include "heed/checkpoint/model_directory.h"
#include "heed/train/config/config.h"

namespace heed::train {

/// What a run trains and writes: all weights of a model, or an adapter of one.
class TrainedWeights {
 public:
  virtual ~TrainedWeights() = default;
  /// The parameters that the optimizer gets.
  virtual nn::Parameters& parameters() = 0;
  /// Writes the result of the run, with the tokenizer's files, into `directory`.
  virtual void save(const std::filesystem::path& directory,
                    const std::vector<checkpoint::NamedFile>& tokenizer_files) const = 0;
  /// The weights as save() writes them.
  virtual std::vector<io::NamedTensor> tensors() const = 0;
  /// Opens what save() has written.
  virtual std::shared_ptr<const io::TensorSource> open(
      const std::filesystem::path& directory) const = 0;
  /// Sets the weights. Throws Error unless these are the tensors of tensors().
  virtual void set(const io::TensorSource& tensors) = 0;
};

/// All weights of a model, which must outlive this, but for the buffers of the family that its
/// configuration names (Family::buffer), which are frozen. Dense modules are saved beside them.
class WholeModel : public TrainedWeights {
 public:
  explicit WholeModel(model::Transformer& model);
  nn::Parameters& parameters() override { return model_.parameters(); }
  void save(const std::filesystem::path& directory,
            const std::vector<checkpoint::NamedFile>& tokenizer_files) const override;
  std::vector<io::NamedTensor> tensors() const override;
  std::shared_ptr<const io::TensorSource> open(
      const std::filesystem::path& directory) const override;
  void set(const io::TensorSource& tensors) override;

 private:
  model::Transformer& model_;
};

/// A new LoRA adapter of a model, which is frozen and must outlive this. The tokenizer's files stay
/// with the model.
class TrainedAdapter : public TrainedWeights {
 public:
  /// Attaches the adapter of `config.lora` to the model. Throws Error as
  /// checkpoint::select_modules() does.
  TrainedAdapter(model::Transformer& model, const TrainConfig& config);
  ~TrainedAdapter() override { model_.attach({}); }
  TrainedAdapter(const TrainedAdapter&) = delete;
  TrainedAdapter& operator=(const TrainedAdapter&) = delete;
  nn::Parameters& parameters() override { return adapter_.parameters(); }
  void save(const std::filesystem::path& directory,
            const std::vector<checkpoint::NamedFile>& tokenizer_files) const override;
  std::vector<io::NamedTensor> tensors() const override;
  std::shared_ptr<const io::TensorSource> open(
      const std::filesystem::path& directory) const override;
  void set(const io::TensorSource& tensors) override;

 private:
  model::Transformer& model_;
  checkpoint::AdapterConfig config_;
  model::LoraAdapter adapter_;
};

}  // namespace heed::train

#include "heed/tasks/modules/vector_module.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "heed/base/error.h"
#include "heed/base/file.h"
#include "heed/base/json.h"
#include "heed/base/quote.h"
#include "heed/io/pytorch/pytorch_file.h"
#include "heed/io/safetensors.h"
#include "heed/kernels/as_f32.h"
#include "heed/nn/linear.h"
#include "heed/nn/norm.h"
#include "heed/tasks/modules/module_activations.h"
#include "heed/tasks/text_settings.h"

namespace heed::tasks {
namespace {

using ModuleJson = nlohmann::json;

constexpr int64_t kMostFeatures = 1 << 20;

/// What a module's config.json says of one of its widths.
int64_t features_of(const ModuleJson& json, const char* key, const std::string& file) {
  const auto count = get<int64_t>(json, key, file);
  require(count >= 1 && count <= kMostFeatures, "{}: {} is {}, expected 1 to {}", file, key, count,
          kMostFeatures);
  return count;
}

/// The parameters of a module from a file, all of which must be there and no others. There their
/// names lack the first `unnamed` characters.
void load_module(nn::Parameters& parameters, const io::TensorSource& weights, size_t unnamed = 0) {
  std::set<std::string> superfluous;
  for (const std::string& name : weights.names()) superfluous.insert(name);
  for (Parameter& parameter : parameters.all()) {
    const std::string name = parameter.name.substr(unnamed);
    require(weights.contains(name), "{}: {} is missing, expected with shape {}", weights.name(),
            name, parameter.shape.text());
    parameter.value = kernels::as_f32(weights.get(name));
    require(parameter.value.shape() == parameter.shape, "{}: {} has shape {}, expected {}",
            weights.name(), name, parameter.value.shape().text(), parameter.shape.text());
    superfluous.erase(name);
  }
  require(superfluous.empty(), "{}: {} is no tensor of the module", weights.name(),
          superfluous.empty() ? "" : one_line(*superfluous.begin()));
}

/// The widths of a module whose config.json says what it reads.
class LearnedModule : public VectorModule {
 public:
  int64_t width(int64_t in) const override {
    require(in == in_, "{}: the module reads vectors of {} elements, found {} before it", file_,
            in_, in);
    return out_;
  }

 protected:
  LearnedModule(std::string file, int64_t in, int64_t out)
      : file_(std::move(file)), in_(in), out_(out) {}

  const std::string file_;
  const int64_t in_, out_;
  nn::Parameters parameters_{std::nullopt};
};

/// activation(x W^T + b), and with use_residual plus x, or plus x R^T if the widths differ.
class DenseModule : public LearnedModule {
 public:
  DenseModule(const ModuleJson& json, const std::filesystem::path& folder, const std::string& file)
      : LearnedModule(file, features_of(json, "in_features", file),
                      features_of(json, "out_features", file)),
        activation_(module_activation(get_or<std::string>(json, "activation_function",
                                                          "torch.nn.modules.activation.Tanh", file),
                                      file)),
        adds_input_(get_or(json, "use_residual", false, file)),
        linear_(parameters_, "linear", {in_, out_, get_or(json, "bias", true, file)},
                WeightRole::head) {
    if (adds_input_ && in_ != out_)
      residual_.emplace(parameters_, "residual", nn::Linear::Sizes{in_, out_, false},
                        WeightRole::head);
    load_module(parameters_, *io::open_model_tensors(folder));
  }

  Tensor forward(const Tensor& x) const override {
    Context context;
    Tensor y = linear_.forward(context, x);
    float* const values = y.data<float>();
    for (int64_t i = 0; i < y.elements(); ++i)
      values[i] = static_cast<float>(activation_(static_cast<double>(values[i])));
    if (!adds_input_) return y;
    const Tensor added = residual_ ? residual_->forward(context, x) : x;
    for (int64_t i = 0; i < y.elements(); ++i) values[i] += added.data<float>()[i];
    return y;
  }

 private:
  const ModuleActivation activation_;
  const bool adds_input_;
  const nn::Linear linear_;
  std::optional<nn::Linear> residual_;
};

/// x W^T + b, followed by ReLU or by nothing.
class LinearFileModule : public LearnedModule {
 public:
  LinearFileModule(const io::TensorSource& weights, const Shape& shape, bool relu)
      : LearnedModule(weights.name(), shape[1], shape[0]),
        relu_(relu),
        linear_(parameters_, "linear", {in_, out_}, WeightRole::head) {
    load_module(parameters_, weights, std::string_view("linear.").size());
  }

  Tensor forward(const Tensor& x) const override {
    Context context;
    Tensor y = linear_.forward(context, x);
    if (relu_)
      for (int64_t i = 0; i < y.elements(); ++i)
        y.data<float>()[i] = std::max(y.data<float>()[i], 0.0f);
    return y;
  }

 private:
  const bool relu_;
  const nn::Linear linear_;
};

/// x W^T, of a matrix among other weights.
class ProjectionModule : public LearnedModule {
 public:
  ProjectionModule(const std::string& file, const Tensor& weight)
      : LearnedModule(file, weight.shape()[1], weight.shape()[0]),
        linear_(parameters_, "linear", {in_, out_, false}, WeightRole::head) {
    parameters_.named("linear.weight").value = kernels::as_f32(weight);
  }

  Tensor forward(const Tensor& x) const override {
    Context context;
    return linear_.forward(context, x);
  }

 private:
  const nn::Linear linear_;
};

class LayerNormModule : public LearnedModule {
 public:
  LayerNormModule(const ModuleJson& json, const std::filesystem::path& folder,
                  const std::string& file)
      : LearnedModule(file, features_of(json, "dimension", file), json["dimension"]),
        norm_(parameters_, "norm", {.d_model = in_}) {
    load_module(parameters_, *io::open_model_tensors(folder));
  }

  Tensor forward(const Tensor& x) const override {
    Context context;
    return norm_.forward(context, x);
  }

 private:
  const nn::Norm norm_;
};

class NormalizeModule : public VectorModule {
 public:
  int64_t width(int64_t in) const override { return in; }
  Tensor forward(const Tensor& x) const override {
    Tensor y = x.clone();
    normalize_rows(y);
    return y;
  }
  bool normalizes() const override { return true; }
};

/// Whether a module reads the states of tokens. Throws Error when its results go elsewhere.
bool reads_tokens(const ModuleJson& json, const std::string& file, bool otherwise) {
  const std::string texts = "sentence_embedding", tokens = "token_embeddings";
  const auto input = get_or(json, "module_input_name", otherwise ? tokens : texts, file);
  require(input == texts || input == tokens,
          "{}: module_input_name is {}, expected sentence_embedding or token_embeddings", file,
          quoted(input));
  const auto output = get_or(json, "module_output_name", input, file);
  require(output == input, "{}: module_output_name is {}, expected {}, which the module reads",
          file, quoted(output), input);
  return input == tokens;
}

}  // namespace

int64_t width_after(const VectorModules& modules, int64_t in) {
  for (const auto& module : modules) in = module->width(in);
  return in;
}

Tensor applied(const VectorModules& modules, Tensor x) {
  for (const auto& module : modules) x = module->forward(x);
  return x;
}

bool is_vector_module(std::string_view kind) {
  return kind == "Dense" || kind == "LayerNorm" || kind == "Normalize" || kind == "Dropout";
}

ReadModule read_vector_module(std::string_view kind, const std::filesystem::path& folder,
                              bool multi_vector) {
  const std::filesystem::path path = folder / "config.json";
  const std::string file = path.string();
  if (kind == "Dropout") return {};
  if (kind == "Normalize") {
    const ModuleJson json = path_exists(path) ? read_object(path) : ModuleJson::object();
    require_known(json, file, {"module_input_name", "module_output_name"});
    return {normalize_module(), reads_tokens(json, file, false)};
  }
  const ModuleJson json = read_object(path);
  if (kind == "LayerNorm") {
    require_known(json, file, {"dimension"});
    return {std::make_shared<LayerNormModule>(json, folder, file)};
  }
  require_known(json, file,
                {"in_features", "out_features", "bias", "activation_function", "module_input_name",
                 "module_output_name", "use_residual"});
  return {std::make_shared<DenseModule>(json, folder, file),
          reads_tokens(json, file, multi_vector)};
}

std::shared_ptr<const VectorModule> read_linear_file(const std::filesystem::path& file, bool relu) {
  const auto weights = io::PyTorchFile::open(file);
  require(weights->contains("weight") && weights->get("weight").shape().rank() == 2,
          "{}: expected a matrix called weight", weights->name());
  return std::make_shared<LinearFileModule>(*weights, weights->get("weight").shape(), relu);
}

std::shared_ptr<const VectorModule> projection_module(const io::TensorSource& weights,
                                                      const std::string& name) {
  const Tensor weight = weights.get(name);
  require(weight.shape().rank() == 2, "{}: {} has shape {}, expected a matrix", weights.name(),
          name, weight.shape().text());
  return std::make_shared<ProjectionModule>(weights.name(), weight);
}

std::shared_ptr<const VectorModule> normalize_module() {
  return std::make_shared<NormalizeModule>();
}

void normalize_rows(Tensor& x) {
  for (int64_t row = 0; row < x.rows(); ++row) {
    const std::span vector(x.data<float>() + row * x.cols(), static_cast<size_t>(x.cols()));
    double squares = 0;
    for (const float value : vector)
      squares += static_cast<double>(value) * static_cast<double>(value);
    const double length = std::max(std::sqrt(squares), 1e-12);
    for (float& value : vector) value = static_cast<float>(static_cast<double>(value) / length);
  }
}

}  // namespace heed::tasks

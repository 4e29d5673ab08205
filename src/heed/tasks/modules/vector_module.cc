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

/// The parameters of a module from its folder, all of which must be there and no others.
void load_module(nn::Parameters& parameters, const std::filesystem::path& folder) {
  const auto weights = io::open_model_tensors(folder);
  std::set<std::string> superfluous;
  for (const std::string& name : weights->names()) superfluous.insert(name);
  for (Parameter& parameter : parameters.all()) {
    require(weights->contains(parameter.name), "{}: {} is missing, expected with shape {}",
            weights->name(), parameter.name, parameter.shape.text());
    parameter.value = kernels::as_f32(weights->get(parameter.name));
    require(parameter.value.shape() == parameter.shape, "{}: {} has shape {}, expected {}",
            weights->name(), parameter.name, parameter.value.shape().text(),
            parameter.shape.text());
    superfluous.erase(parameter.name);
  }
  require(superfluous.empty(), "{}: {} is no tensor of the module", weights->name(),
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
    load_module(parameters_, folder);
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

class LayerNormModule : public LearnedModule {
 public:
  LayerNormModule(const ModuleJson& json, const std::filesystem::path& folder,
                  const std::string& file)
      : LearnedModule(file, features_of(json, "dimension", file), json["dimension"]),
        norm_(parameters_, "norm", {.d_model = in_}) {
    load_module(parameters_, folder);
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
bool reads_tokens(const ModuleJson& json, const std::string& file) {
  constexpr const char* kTexts = "sentence_embedding";
  const auto input = get_or<std::string>(json, "module_input_name", kTexts, file);
  require(input == kTexts || input == "token_embeddings",
          "{}: module_input_name is {}, expected sentence_embedding or token_embeddings", file,
          quoted(input));
  const auto output = get_or<std::string>(json, "module_output_name", input, file);
  require(output == input, "{}: module_output_name is {}, expected {}, which the module reads",
          file, quoted(output), input);
  return input != kTexts;
}

/// Throws Error on a setting of a module that is not among `known`.
void require_known(const ModuleJson& json, const std::string& file,
                   std::initializer_list<std::string_view> known) {
  for (const auto& [key, value] : json.items())
    require(std::ranges::find(known, key) != known.end() || value.is_null(),
            "{}: {} is {}, which heed does not apply", file, one_line(key), excerpt(value));
}

}  // namespace

int64_t width_after(const VectorModules& modules, int64_t in) {
  for (const auto& module : modules) in = module->width(in);
  return in;
}

bool is_vector_module(std::string_view kind) {
  return kind == "Dense" || kind == "LayerNorm" || kind == "Normalize" || kind == "Dropout";
}

ReadModule read_vector_module(std::string_view kind, const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "config.json";
  const std::string file = path.string();
  if (kind == "Dropout") return {};
  if (kind == "Normalize") {
    const ModuleJson json = path_exists(path) ? read_object(path) : ModuleJson::object();
    require_known(json, file, {"module_input_name", "module_output_name"});
    return {std::make_shared<NormalizeModule>(), reads_tokens(json, file)};
  }
  const ModuleJson json = read_object(path);
  if (kind == "LayerNorm") {
    require_known(json, file, {"dimension"});
    return {std::make_shared<LayerNormModule>(json, folder, file)};
  }
  require_known(json, file,
                {"in_features", "out_features", "bias", "activation_function", "module_input_name",
                 "module_output_name", "use_residual"});
  return {std::make_shared<DenseModule>(json, folder, file), reads_tokens(json, file)};
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

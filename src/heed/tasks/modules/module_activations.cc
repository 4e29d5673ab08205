#include "heed/tasks/modules/module_activations.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>
#include <utility>

#include "heed/base/error.h"
#include "heed/base/quote.h"

namespace heed::tasks {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return x > 20 ? x : std::log1p(std::exp(x)); }
double elu(double x) { return x > 0 ? x : std::expm1(x); }

// Klambauer et al. (2017), Self-Normalizing Neural Networks.
constexpr double kSeluAlpha = 1.6732632423543772, kSeluScale = 1.0507009873554805;

constexpr std::pair<std::string_view, ModuleActivation> kModuleActivations[] = {
    {"linear.Identity", [](double x) { return x; }},
    {"activation.Tanh", [](double x) { return std::tanh(x); }},
    {"activation.Sigmoid", sigmoid},
    {"activation.ReLU", [](double x) { return std::max(x, 0.0); }},
    {"activation.ReLU6", [](double x) { return std::clamp(x, 0.0, 6.0); }},
    {"activation.LeakyReLU", [](double x) { return x > 0 ? x : 0.01 * x; }},
    {"activation.ELU", elu},
    {"activation.SELU",
     [](double x) { return kSeluScale * (x > 0 ? x : kSeluAlpha * std::expm1(x)); }},
    {"activation.GELU", [](double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }},
    {"activation.SiLU", [](double x) { return x * sigmoid(x); }},
    {"activation.Mish", [](double x) { return x * std::tanh(softplus(x)); }},
    {"activation.Softplus", softplus},
    {"activation.Softsign", [](double x) { return x / (1 + std::abs(x)); }},
};

}  // namespace

ModuleActivation module_activation(const std::string& name, const std::string& file) {
  constexpr std::string_view kPrefix = "torch.nn.modules.";
  std::string known;
  for (const auto& [end, function] : kModuleActivations) {
    if (name.starts_with(kPrefix) && name.substr(kPrefix.size()) == end) return function;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", end.substr(end.find('.') + 1));
  }
  fail(
      "{}: activation_function is {}, which heed does not apply; it applies those of "
      "torch.nn.modules: {}",
      file, quoted(name), known);
}

}  // namespace heed::tasks

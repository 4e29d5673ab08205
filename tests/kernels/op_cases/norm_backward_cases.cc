#include <algorithm>
#include <array>

#include "heed/kernels/norm.h"
#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

struct NormBackwardCase {
  bool centred;
  Shape shape;
  DType dtype;
  float spread;
};

/// The statistics of the rows of x, as the reference computes them.
Tensor norm_stats_on_host(const NormBackwardCase& c) {
  const DeviceScope host(nullptr);
  const Tensor x = normals(c.shape, 80, c.dtype, c.spread), weight = Tensor::full({x.cols()}, 1.0f);
  Tensor y = Tensor::empty(x.shape(), c.dtype);
  Tensor stats = Tensor::empty({x.rows(), c.centred ? 2 : 1});
  if (c.centred)
    reference::layer_norm_forward({x, weight, weight, 1e-5f}, y, stats);
  else
    reference::rms_norm_forward({x, weight, 1e-5f}, y, stats);
  return stats;
}

std::vector<OpResult> run_norm_backward(const NormBackwardCase& c) {
  const Tensor host_stats = norm_stats_on_host(c);
  // dx is a difference of terms of the size of 1 / deviation.
  double largest_inverse = 0.0;
  for (int64_t n = 0; n < host_stats.rows(); ++n)
    largest_inverse = std::max<double>(largest_inverse,
                                       host_stats.data<float>()[(n + 1) * host_stats.cols() - 1]);
  const Tensor x = normal_input(c.shape, 80, c.dtype, c.spread);
  const Tensor dy = normal_input(c.shape, 81, c.dtype), stats = input(host_stats);
  const Tensor weight = normal_input({x.cols()}, 82);
  Tensor dx = result(c.shape, c.dtype);
  Tensor d_weight = normal_input({x.cols()}, 84), d_bias = normal_input({x.cols()}, 85);
  if (c.centred)
    layer_norm_backward({x, weight, weight, 1e-5f}, stats, dy, {dx, d_weight, d_bias});
  else
    rms_norm_backward({x, weight, 1e-5f}, stats, dy, {dx, d_weight});
  return {{"dx", dx, largest_inverse}, {"d_weight", d_weight, 5.0}, {"d_bias", d_bias, 5.0}};
}

const AddOpCases norm_backward_cases([] {
  std::vector<OpCase> cases;
  const auto add = [&](const std::string& name, const NormBackwardCase& c) {
    cases.push_back({name + (c.centred ? " layer norm backward" : " RMSNorm backward"),
                     [c] { return run_norm_backward(c); }});
  };
  for (const bool centred : {true, false}) {
    for (const int64_t cols : {1, 17, 64, 255})
      for (const DType dtype : kFloating)
        for (const int64_t rows : {1, 37})
          add(std::to_string(rows) + " x " + std::to_string(cols),
              {centred, {rows, cols}, dtype, 2.0f});
    for (const float spread : {1e-30f, 1e15f, 1e30f})
      add("extreme", {centred, {6, 100}, DType::f32, spread});
    if (centred) add("many rows", {centred, {2100, 3}, DType::f32, 1.0f});
    add("no rows", {centred, {0, 5}, DType::f32, 1.0f});
  }
  return cases;
});

}  // namespace
}  // namespace heed::kernels

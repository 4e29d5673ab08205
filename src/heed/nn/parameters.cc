#include "heed/nn/parameters.h"

#include <cmath>

#include "heed/base/error.h"
#include "heed/base/parallel.h"
#include "heed/base/random.h"

namespace heed::nn {
namespace {

constexpr int64_t kMaxCount = int64_t{1} << 60;  // their bytes fit 64 bits, too

uint64_t hash_name(const std::string& name) {
  uint64_t hash = 0;
  for (const char letter : name) hash = mix64(hash ^ static_cast<unsigned char>(letter));
  return hash;
}

void initialize(Tensor& tensor, Initializer how, const CounterRandom& random) {
  const double bound =
      how.value * std::sqrt(6.0 / static_cast<double>(tensor.rows() + tensor.cols()));
  float* values = tensor.data<float>();
  parallel_for(tensor.elements(), 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto counter = static_cast<uint64_t>(i);
      switch (how.kind) {
        case Initializer::Kind::constant:
          values[i] = how.value;
          break;
        case Initializer::Kind::xavier_uniform:
          values[i] = static_cast<float>((2.0 * random.uniform(counter) - 1.0) * bound);
          break;
        case Initializer::Kind::normal:
          values[i] = static_cast<float>(random.normal(counter) * how.value);
          break;
      }
    }
  });
}

}  // namespace

Parameter& Parameters::create(const std::string& name, const Shape& shape, Initializer initializer,
                              WeightRole role) {
  if (sharing_) {
    Parameter& shared = named(name);
    require(shared.shape == shape, "{} is {}, expected {} where it is shared", name,
            shared.shape.text(), shape.text());
    return shared;
  }
  require(initializers_.emplace(name, initializer).second, "two parameters are named {}", name);
  require(shape.elements() <= kMaxCount - count_, "the model has more than 2^60 weights");
  count_ += shape.elements();
  Parameter& parameter = parameters_.emplace_back();
  parameter.name = name;
  parameter.shape = shape;
  parameter.role = role;
  parameter.place = place_;
  if (seed_) parameter.value = initial_value(parameter, *seed_);
  return parameter;
}

Tensor Parameters::initial_value(const Parameter& parameter, uint64_t seed) const {
  Tensor value = Tensor::empty(parameter.shape);
  initialize(value, initializers_.at(parameter.name),
             CounterRandom(seed, hash_name(parameter.name)));
  return value;
}

Parameter& Parameters::named(const std::string& name) {
  return const_cast<Parameter&>(std::as_const(*this).named(name));
}

const Parameter& Parameters::named(const std::string& name) const {
  for (const Parameter& parameter : parameters_)
    if (parameter.name == name) return parameter;
  fail("there is no parameter {}", name);
}

}  // namespace heed::nn

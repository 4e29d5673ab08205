#include "heed/kernels/key_rows.h"

#include <limits>
#include <thread>

#include "tests/base/testing.h"
#include "tests/kernels/op_cases/op_cases.h"
#include "tests/kernels/test_gpu.h"

namespace heed::kernels {
namespace {

/// Two sequences with 3 and 1 new tokens of 5 and 3 keys.
AttentionMetadata spans_of_new_keys(bool gathered) {
  AttentionMetadata spans{{0, 3, 4}, {0, 5}, {5, 8}, {}};
  if (gathered) spans.kv_rows = {6, 1, 9, 4, 5, 0, 2, 8};
  return spans;
}

const AddOpCases key_rows_cases([] {
  std::vector<OpCase> cases;
  for (const DType from : kFloating)
    for (const DType to : {DType::f32, DType::bf16, DType::q8_0})
      for (const bool gathered : {false, true})
        for (const int64_t width : {3, 64, 96}) {
          if (to == DType::q8_0 && width == 3) continue;
          cases.push_back(
              {"new keys in " + std::string(name_of(to)) + ", width " + std::to_string(width),
               [=] {
                 const Tensor x = normal_input({4, width}, 40, from, 3.0f);
                 Tensor cached = result({10, width}, to);
                 write_key_rows(x, spans_of_new_keys(gathered), cached);
                 return std::vector<OpResult>{{"cached", cached}};
               },
               true});
        }
  return cases;
});

/// Writes keys to a cache of q8_0, of which one has this value; waits.
void write_with(float value) {
  Tensor x = normals({4, 64}, 40);
  x.data<float>()[100] = value;
  const DeviceScope scope(&test_gpu());
  Tensor cached = result({10, 64}, DType::q8_0);
  write_key_rows(input(x), spans_of_new_keys(true), cached);
  cached.to(nullptr);
}

TEST(KeyRows, ValuesThatQ8_0CannotHoldAreAnErrorOfTheGpuToo) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float value : {std::nanf(""), kInfinity, -kInfinity, 9e6f}) {
    expect_error([&] { write_with(value); }, "not finite, or too large, could not be stored");
    EXPECT_NO_THROW(write_with(8e6f)) << "after " << value;
  }
}

// Each of them has a flag.
TEST(KeyRows, AValueOfAnotherThreadIsNoErrorOfThisOne) {
  Tensor cached;
  {
    Tensor x = Tensor::full({4, 64}, std::nanf(""));
    const DeviceScope scope(&test_gpu());
    cached = result({10, 64}, DType::q8_0);
    write_key_rows(input(x), spans_of_new_keys(false), cached);
  }
  std::thread([] { EXPECT_NO_THROW(write_with(0.0f)); }).join();
  expect_error([&] { cached.to(nullptr); }, "could not be stored");
}

}  // namespace
}  // namespace heed::kernels

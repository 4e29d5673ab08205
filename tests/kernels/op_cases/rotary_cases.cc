#include "heed/kernels/rotary.h"

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

struct RotaryShape {
  int64_t heads, d, begin, half;
};

const AddOpCases rotary_cases([] {
  std::vector<OpCase> cases;
  for (const RotaryShape shape :
       {RotaryShape{3, 16, 0, 8}, {2, 24, 8, 4}, {1, 7, 1, 3}, {2, 64, 0, 16}})
    for (const DType dtype : kFloating)
      for (const PairLayout layout : {PairLayout::halves, PairLayout::interleaved})
        for (const bool in_place : {false, true})
          cases.push_back(
              {"rotary of " + std::to_string(shape.d) + " " + std::string(name_of(layout)), [=] {
                 Tensor x = normal_input({5, shape.heads * shape.d}, 31, dtype);
                 const Rotation rotation{normal_input({5, shape.half}, 32),
                                         normal_input({5, shape.half}, 33)};
                 const RotateOptions options{.n_heads = shape.heads,
                                             .layout = layout,
                                             .begin = shape.begin,
                                             .inverse = in_place};
                 Tensor y = in_place ? x : result(x.shape(), dtype);
                 rotate(x, rotation, options, y);
                 return std::vector<OpResult>{{"y", y}};
               }});
  return cases;
});

}  // namespace
}  // namespace heed::kernels

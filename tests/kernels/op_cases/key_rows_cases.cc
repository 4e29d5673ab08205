#include "heed/kernels/key_rows.h"

#include "tests/kernels/op_cases/op_cases.h"

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

}  // namespace
}  // namespace heed::kernels

#include "heed/kernels/column_sums.h"

#include "tests/kernels/op_cases/op_cases.h"

namespace heed::kernels {
namespace {

const AddOpCases column_sums_cases([] {
  std::vector<OpCase> cases;
  for (const DType dtype : kFloating)
    for (const Shape& shape : {Shape{3, 5}, Shape{9, 300}, Shape{300, 129}, Shape{600, 8}})
      cases.push_back({"column_sums of " + std::to_string(shape[0]), [=] {
                         const Tensor x = normal_input(shape, 71, dtype);
                         Tensor sums = normal_input({shape[1]}, 72);
                         column_sums(x, sums);
                         return std::vector<OpResult>{{"sums", sums, 30.0}};
                       }});
  return cases;
});

}  // namespace
}  // namespace heed::kernels

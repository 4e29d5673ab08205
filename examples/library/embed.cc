#include <heed/heed.h>
#include <iostream>
#include <numeric>

int main(int, char** argv) {
  const auto model = heed::Model::load(argv[1]);
  const auto v = model.embed_batch({"A ship sails.", "A boat sails."}, {.normalize = true});
  std::cout << std::inner_product(v[0].begin(), v[0].end(), v[1].begin(), 0.0f) << '\n';
}

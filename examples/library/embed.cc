#include <heed/heed.h>

#include <iostream>
#include <numeric>

int main(int, char** argv) {
  const auto model = heed::Model::load(argv[1]);
  const auto ship = model.embed("A ship sails.", {.normalize = true});
  const auto boat = model.embed("A boat sails.", {.normalize = true});
  std::cout << std::inner_product(ship.begin(), ship.end(), boat.begin(), 0.0f) << '\n';
}

#include <heed/heed.h>

#include <iostream>

int main(int, char** argv) {
  const auto model = heed::Model::load(argv[1]);
  for (std::string line; std::getline(std::cin, line);)
    std::cout << model.translate(line).text() << '\n';
}

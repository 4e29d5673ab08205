#include <heed/heed.h>

#include <iostream>

int main(int, char** argv) {
  const auto model = heed::Model::load(argv[1]);
  model.generate("Once upon a time", {.max_new_tokens = 100},
                 [](std::string_view text) { std::cout << text << std::flush; });
}
